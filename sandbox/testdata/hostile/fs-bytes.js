// A file that grows for ever.
// grant: agent
// expect: limit files
const fs = require('fs');
const chunk = Buffer.alloc(1 << 20, 'x');
for (;;) fs.appendFileSync('/big', chunk);
