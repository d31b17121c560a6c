const fs = require('fs'); const fsp = require('fs/promises'); const os = require('os'); const path = require('path');
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'x-')); const f = path.join(dir, 'a.txt');
fs.writeFileSync(f, 'one\n'); fs.appendFileSync(f, 'two'); console.log(fs.readFileSync(f, 'utf8'), fs.existsSync(f), fs.statSync(f).size, fs.statSync(f).isFile());
await fsp.writeFile(f, Buffer.from([1, 2, 3])); console.log(await fsp.readFile(f), fs.readdirSync(dir)); fs.mkdirSync(path.join(dir, 'p/q'), { recursive: true }); fs.renameSync(f, path.join(dir, 'p/q/r')); console.log(fs.readdirSync(dir, { withFileTypes: true }).map((d) => [d.name, d.isDirectory()]));
try { fs.readFileSync('/no/such') } catch (e) { console.log(e.code, e.message, e.errno, e.syscall, e.path) }
fs.readFile(path.join(dir, 'p/q/r'), (e, d) => console.log(e, d)); await new Promise((r) => setTimeout(r, 60));
fs.createReadStream(path.join(dir, 'p/q/r')).on('data', (c) => console.log('chunk', c)).on('end', () => console.log('end')); await new Promise((r) => setTimeout(r, 20));
const ws = fs.createWriteStream(path.join(dir, 'w')); ws.write('a'); ws.end('b'); await new Promise((r) => ws.on('finish', r)); console.log(fs.readFileSync(path.join(dir, 'w'), 'latin1'));
fs.rmSync(dir, { recursive: true }); console.log(fs.existsSync(dir));
