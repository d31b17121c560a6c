// One byte at the end of two gigabytes.
// grant: agent
// expect: limit files
const fs = require('fs');
const fd = fs.openSync('/sparse', 'w');
fs.writeSync(fd, 'x', 0x7ffffff0);
