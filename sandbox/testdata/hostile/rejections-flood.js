// Rejections without end, kept by nobody.
// expect: limit wall
for (;;) Promise.reject(new Error('m'));
