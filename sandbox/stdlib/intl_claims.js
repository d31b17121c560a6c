// The combinations of fields (2: two digits, t: time) that DateTimeFormat supports in a locale without the host's patterns. Their
// results were compared with Node's.
(host, internal) => {
  'use strict';
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
