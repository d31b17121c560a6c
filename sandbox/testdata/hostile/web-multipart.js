// Bodies that say they are forms: a boundary that never ends, headers without end, parts inside of parts.
// expect: value ["TypeError","TypeError","TypeError","TypeError"]
const form = async (body, boundary = 'b') => {
  try {
    return [...await new Response(body, { headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } }).formData()].length;
  } catch (e) { return e.name; }
};
return [
  await form('--b\r\n'.repeat(1e5)),
  await form(`--b\r\n${'A: b\r\n'.repeat(1e5)}\r\n\r\n--b--`),
  await form(`--b\r\nContent-Disposition: form-data; name="${'\\'.repeat(1e5)}`),
  await form('--b\r\n\r\n--b--', 'b'.repeat(1e5)),
];
