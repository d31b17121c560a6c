// One huge buffer, caught: the run ends all the same.
// expect: limit memory
// memory: 16 MiB
try { new ArrayBuffer(2000000000); } catch (e) {}
'survived'
