const util = require('util');
console.log(util.format('%s %d %i %f %j %o %O %%', 'a', '42', 3.7, '1.5', {a:1}, [1], {b:{c:{}}}));
console.log(util.inspect({a:{b:{c:{d:1}}}}, {depth:0}), util.inspect({a:{b:{c:{d:1}}}}, false, null));
console.log(util.inspect('str'), util.inspect(new Map([[{a:1},'b']])), util.inspect(Symbol('x')));
class Foo { constructor(){ this.x = 1 } [util.inspect.custom](d, o) { return 'Foo<' + this.x + '>' } }
console.log(new Foo(), [new Foo()]);
console.log(util.types.isPromise(Promise.resolve()), util.isDeepStrictEqual({a:[1]}, {a:[1]}), util.inspect(new Proxy({a:1},{}), {showProxy:true}));
console.log(util.inspect({get a(){return 1}, set b(v){}, get c(){return 1}, set c(v){}}, {getters:true}));
console.log(util.inspect(Object.create(null)), util.inspect(Object.assign(Object.create({}), {q:1})), util.inspect(class A extends Foo {}), util.inspect(function foo(){}), util.inspect(()=>{}));
util.promisify((a, cb) => setTimeout(cb, 1, null, a * 2))(21).then(console.log);
console.log(util.styleText ? util.styleText('red', 'x') : 'none');
console.log(util.parseArgs({ args: ['-f', '--bar', 'b', 'pos'], options: { f: {type:'boolean', short:'f'}, bar: {type:'string'} }, allowPositionals: true }));
console.log(util.inspect([1,,3,,,]), util.inspect(new Array(200).fill(7)), util.inspect('a'.repeat(200).split('')));
console.log(util.inspect({ long: 'x'.repeat(90), list: Array.from({length: 30}, (_, i) => i * 1000), s: new Set(['a', {b: 1}]) }, { compact: 3, breakLength: 80 }));
console.log(util.toUSVString('a\ud800'), util.stripVTControlCharacters('\u001b[31mhi\u001b[0m'));
