// The formats that each locale supports without the host's patterns: for NumberFormat styles, notations and currencies, for
// DateTimeFormat combinations of fields (2: two digits, t: time). Their results were compared with Node's.
(host, internal) => {
  'use strict';
  internal.intl.numberClaims = {
    __proto__: null,
    'en-GB': ' exponent unit ',
    'en-AU': ' unit ',
    'en-CA': ' exponent unit ',
    'en-IN': ' exponent ',
    'en-NZ': ' exponent unit ',
    'en-IE': ' exponent unit ',
    de: ' exponent unit ',
    'de-CH': ' exponent ',
    'de-AT': ' exponent unit ',
    fr: ' exponent ',
    es: ' exponent unit ',
    it: ' exponent unit ',
    pt: ' exponent unit ',
    'pt-PT': ' exponent unit ',
    nl: ' exponent ',
    sv: ' unit ',
    nb: ' exponent ',
    pl: ' exponent ',
    cs: ' exponent unit ',
    ru: ' exponent ',
    tr: ' exponent ',
    ja: ' exponent unit ',
    zh: ' exponent unit ',
  };
  internal.intl.dateClaims = {
    __proto__: null,
    'en-GB': ' ymd ymd2 ymdt ymd2t md md2 ym ym2 y m d t medium mediumt long longt M Mt Md Mdt S St Sd Sdt yM yMt yMd yMdt yS ySt ySd ySdt W Wt Wymd Wymdt ',
    'en-AU': ' ymd ymd2 ymdt ymd2t md2 ym ym2 y m d t h medium mediumt long longt M Mt Md Mdt S St Sd Sdt yM yMt yMd yMdt yS ySt ySd ySdt W Wt WSd WSdt WySd WySdt Wymd Wymdt tz ',
    'en-CA': ' ymd ymd2 md md2 ym ym2 y m d medium long full M Md S Sd yM yMd yS ySd W WMd WSd Wmd WyMd WySd Wymd ',
    'en-IN': ' ymd ymd2 ymdt ymd2t md2 ym2 y m d t h medium mediumt long longt M Mt Md Mdt S St Sd Sdt yM yMt yMd yMdt yS ySt ySd ySdt W Wymd Wymdt tz ',
    'en-NZ': ' ymd2 ymd2t md2 ym ym2 y m d t h medium mediumt long longt M Mt Md Mdt S St Sd Sdt yM yMt yMd yMdt yS ySt ySd ySdt W Wt Wmd Wmdt Wymd Wymdt tz ',
    'en-IE': ' ymd ymd2 ymdt ymd2t md md2 ym2 y m d t medium mediumt long longt full fullt M Mt Md Mdt S St Sd Sdt yM yMt yMd yMdt yS ySt ySd ySdt W Wt Wmd Wmdt Wymd Wymdt ',
  };
  return internal;
}
