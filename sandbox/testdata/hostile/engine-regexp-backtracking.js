// Patterns that backtrack without end, in each of the ways that run them.
// expect: limit any
const s = 'a'.repeat(60) + '!';
for (const f of [() => /^(?:a|a?)+$/.test(s), () => s.replace(/(?<=(?:a|aa)+)b|(a*)*c/g, ''), () => s.match(/((?=a*)a*)*$/u), () => s.split(/(a+a+)+y/), () => s.search(/^(?<x>a+)+\k<x>$/i)]) f();
return 'ended';
