// Segments and formats of texts as long as they can be, for ever.
// expect: limit any
const text = 'a\u0300👩\u200d'.repeat(1e5);
for (;;) {
  for (const granularity of ['grapheme', 'word', 'sentence']) {
    try { new Intl.Segmenter('en', { granularity }).segment(text); } catch { /* a segment is too long */ }
  }
  text.localeCompare(text + 'b', 'de', { numeric: true });
  new Intl.NumberFormat('en').format('9'.repeat(1e5));
}
