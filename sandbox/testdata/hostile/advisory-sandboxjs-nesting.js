// Nested text ends in an error, whoever parses it.
// GHSA-8pfc-jjgw-6g26 (SandboxJS) and the parser tests of isolated-vm: a parser that recurses without a bound.
// expect: value [] or limit stack
// grant: agent
const odd = [];
const n = 50000;
const deep = (a, b = '') => a.repeat(n) + '1' + b.repeat(n);
const texts = [deep('(', ')'), deep('[', ']'), deep('{a:', '}'), deep('`${', '}`'), deep('!'), deep('a=>'), deep('function f(){', '}'), deep('if(1)'), deep('new '), deep('async()=>'), deep('x?'), deep('-~'), deep('class extends (', '){}'), deep('...['), 'a' + '.a'.repeat(n), '1' + '+1'.repeat(n), '1' + '**1'.repeat(n), 'a' + '=a'.repeat(n), 'a' + '?.[0]'.repeat(n)];
const parsers = [eval, (t) => Function(t), (t) => JSON.parse(t), (t) => new RegExp(t.slice(0, 20000)), (t) => new URL('http://a/' + t), (t) => structuredClone({ t }), (t) => new URLSearchParams(t)];
for (const t of texts) {
  for (const p of parsers) {
    try { p(t); } catch (e) { if (!(e instanceof Error)) odd.push(String(e)); }
  }
}
for (const p of [() => new RegExp('('.repeat(20000)), () => new RegExp('(?:'.repeat(20000) + 'a' + ')'.repeat(20000)), () => new RegExp('[' .repeat(20000), 'v'), () => new RegExp('(?='.repeat(5000) + ')'.repeat(5000))]) {
  try { p(); } catch (e) { if (!(e instanceof Error)) odd.push(String(e)); }
}
return odd;
