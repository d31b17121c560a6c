// Names that fall into one slot of a table.
// quickjs-ng 807f271: hashes that an author of a program can choose.
// expect: any
const o = {};
const m = new Map();
const bits = (n, a, b) => { let s = ''; for (let i = 0; i < 16; i++) s += n >> i & 1 ? a : b; return s; };
for (let n = 0; n < 65536; n++) {
  const k = bits(n, '\u0001\u0000', '\u0000\u0107');
  o[k] = n;
  m.set(k, n);
  m.set(n * 4294967296, n);
}
return Object.keys(o).length;
