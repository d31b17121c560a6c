// The engine's own modules cannot be imported.
// expect: value ["ReferenceError","ReferenceError","ReferenceError","ReferenceError"]
const out = [];
for (const m of ['qjs:std', 'qjs:os', 'qjs:bjson', '/etc/passwd']) { try { await import(m); out.push('imported ' + m); } catch (e) { out.push(e.name); } }
return out;
