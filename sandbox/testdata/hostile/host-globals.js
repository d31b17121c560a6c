// The build's own globals are gone.
// expect: value []
return ['std', 'os', 'bjson', 'print', 'scriptArgs', 'gc', 'QJS_PROXY_VALUE', 'Deno', 'Bun', 'host', 'internal', '$host'].filter((n) => n in globalThis);
