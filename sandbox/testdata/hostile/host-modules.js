// The engine's own modules cannot be imported.
// expect: value ["refused","refused","refused","refused"]
const out = [];
for (const m of ['qjs:std', 'qjs:os', 'qjs:bjson', '/etc/passwd']) {
  try { await import(m); out.push('imported ' + m); } catch (e) { out.push(e instanceof Error ? 'refused' : 'odd'); }
}
return out;
