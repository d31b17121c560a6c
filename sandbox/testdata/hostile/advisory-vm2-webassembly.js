// There is no WebAssembly inside, so its exception tags and promise integration are not there either.
// CVE-2026-26956 (vm2, GHSA-ffh4-j6h5-pg66) and CVE-2026-47210 (vm2).
// expect: value ["undefined","undefined"]
return [typeof WebAssembly, typeof globalThis['Web' + 'Assembly']];
