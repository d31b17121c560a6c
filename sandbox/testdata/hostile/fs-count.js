// Files without end, and without content.
// grant: agent
// expect: limit files
const fs = require('fs');
for (let i = 0; ; i++) fs.writeFileSync('/f' + i, '');
