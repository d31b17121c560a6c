// Prints a hash of the results of each function of mathematics. math.txt is what Node.js 20 prints.
const number = new Float64Array(1), words = new Uint32Array(number.buffer);
let seed = 12345;
const random = () => (seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff) / 2147483648;
const special = [0, -0, 1, -1, 0.5, 2, 3, -3, 1.5, 10, 1e-300, 5e-324, 1e300, 1.7976931348623157e308, -1e300, Infinity, -Infinity, NaN,
  709.78, 709.79, 710.4, 710.5, -745.1, -745.2, 22, 21.9, 1e-9, 4294967296, 9007199254740991, 9007199254740993, 0.7853981633974483, 2 ** 0.5, Math.PI];
const some = [...special];
for (let i = 0; i < 2000; i++) some.push((random() - 0.5) * 10 ** Math.floor(random() * 12 - 6), 1 + random() / 2 ** Math.floor(random() * 40), Math.floor(random() * 400));
for (const name of ['exp', 'log', 'log10', 'log2', 'log1p', 'expm1', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh', 'asinh', 'acosh',
  'atanh', 'cbrt', 'sqrt', 'pow', 'hypot', 'atan2']) {
  let hash = 0x811c9dc5;
  const add = (x) => {
    number[0] = x !== x ? NaN : x;
    for (const word of words) hash = Math.imul(hash ^ (word & 0xffff), 16777619), hash = Math.imul(hash ^ (word >>> 16), 16777619);
  };
  if (Math[name].length === 2) {
    for (const x of special) for (const y of special) add(Math[name](x, y));
    for (let i = 0; i < some.length; i++) add(Math[name](Math.abs(some[i]), some[(i * 7 + 3) % some.length])), add(Math[name](some[i], i % 200 - 100));
  } else for (const x of some) add(Math[name](x));
  if (name === 'hypot') {
    for (const x of special) for (const y of special) add(Math.hypot(x, y, 1)), add(Math.hypot(3, x, y, x));
    for (let i = 4; i < some.length; i++) add(Math.hypot(some[i], some[i - 1], some[i - 2])), add(Math.hypot(...some.slice(i - 4, i)));
  }
  console.log(name, (hash >>> 0).toString(16));
}
let interest = '';
for (let year = 1; year <= 40; year++) interest += ` ${1000 * 1.05 ** year}`;
console.log(interest.trim());
