// Numbers whose text, shifts and lengths are at the ends of what their memory takes.
// quickjs-ng 1cd5e67, 2f8616c, b51e527: overflows where BigInts become text and text becomes BigInts.
// expect: value [] or limit any
const odd = [];
for (const radix of [2, 3, 7, 8, 10, 16, 31, 32, 36]) {
  for (const bits of [1, 31, 32, 33, 63, 64, 65, 127, 1024, 4095, 65537]) {
    for (const n of [(1n << BigInt(bits)) - 1n, 1n << BigInt(bits), -(1n << BigInt(bits)), (1n << BigInt(bits)) + 1n]) {
      const t = n.toString(radix);
      const digits = t.replace('-', '');
      let back = 0n;
      if (digits.length < 3000) { for (const c of digits) back = back * BigInt(radix) + BigInt(parseInt(c, radix)); if ((n < 0n ? -back : back) !== n) odd.push(`${radix} ${bits}`); }
    }
  }
}
for (const t of ['0b' + '1'.repeat(70000), '0o' + '7'.repeat(40000), '0x' + 'f'.repeat(40000), '9'.repeat(5000), ' '.repeat(1e5) + '1', '-0', '0x', '1n', '+'.repeat(10)]) {
  try { BigInt(t); } catch (e) { if (!(e instanceof SyntaxError || e instanceof RangeError)) odd.push(String(e)); }
}
for (const f of [() => 1n << 0x7fffffffn, () => 2n ** 0x3fffffffn, () => BigInt.asIntN(2 ** 53 - 1, -1n), () => 1n << -0xffffffffn, () => (1n << 1000000n) * (1n << 1000000n), () => BigInt(Number.MAX_VALUE) >> 0xffffffffn]) {
  try { f(); } catch (e) { if (!(e instanceof RangeError || e.name === 'InternalError')) odd.push(String(e)); }
}
return odd;
