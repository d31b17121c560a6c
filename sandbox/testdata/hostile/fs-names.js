// Names that are too long, hold NUL, or are no names.
// grant: agent
// expect: value ["ENAMETOOLONG","ENAMETOOLONG","ERR_INVALID_ARG_VALUE","ERR_INVALID_ARG_TYPE","ERR_INVALID_ARG_TYPE"]
const fs = require('fs');
const out = [];
for (const name of ['a'.repeat(300), '/a'.repeat(4000), 'a\0b', {}, null]) {
  try {
    fs.writeFileSync(name, 'x');
    out.push('written');
  } catch (e) {
    out.push(e.code);
  }
}
out;
