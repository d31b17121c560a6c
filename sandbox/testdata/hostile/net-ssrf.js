// Every spelling of an address inside, all refused before a connection is made.
// grant: agent
// expect: value 0
const spellings = [
  'http://127.0.0.1/', 'http://127.1/', 'http://2130706433/', 'http://0x7f000001/', 'http://0177.0.0.1/', 'http://[::1]/', 'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/', 'http://0.0.0.0/', 'http://0/', 'http://[::]/', 'http://169.254.169.254/latest/meta-data/', 'http://2852039166/',
  'http://[64:ff9b::a9fe:a9fe]/', 'http://[fd00:ec2::254]/', 'http://10.0.0.1/', 'http://192.168.1.1/', 'http://172.16.0.1/', 'http://100.64.0.1/',
  'http://[fe80::1]/', 'http://[fc00::1]/', 'http://[2002:7f00:1::]/', 'http://224.0.0.1/', 'http://127.0.0.1./', 'http://①②⑦.0.0.1/', 'file:///etc/passwd',
];
let reached = 0;
for (const url of spellings) {
  try {
    await fetch(url);
    reached++;
  } catch (e) {
    if (!(e instanceof TypeError)) reached += 1000;
  }
}
reached;
