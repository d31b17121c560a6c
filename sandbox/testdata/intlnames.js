// Names of currencies, units and zones, ranges of dates, and Intl.Locale. intlnames.txt is what Node.js 20 prints.
const locales = 'de fr ar en-GB pl ru'.split(' ');
const S = {};
const d = new Date(Date.UTC(2024,0,5,14,3,9,45)), e = new Date(Date.UTC(2024,6,15,3,4,5));
S.names = (l) => ['EUR','USD','JPY','GBP','INR','PLN','CHF','XOF','SEK','KZT'].flatMap(currency => { const f = new Intl.NumberFormat(l,{style:'currency',currency,currencyDisplay:'name'}); return [1,2,5,21,-3.5,1e6,0].map(n=>f.format(n)); });
S.nameParts = (l) => [JSON.stringify(new Intl.NumberFormat(l,{style:'currency',currency:'EUR',currencyDisplay:'name'}).formatToParts(-1234.5))];
S.display = (l) => ['long','short','narrow'].flatMap(style => { const f = new Intl.DisplayNames(l,{type:'currency',style}); return ['USD','EUR','JPY','TRY','XYZ'].map(c=>f.of(c)); });
S.exp = (l) => ['scientific','engineering'].flatMap(notation => [12345,-0.00012,0,1.5e20].map(n=>new Intl.NumberFormat(l,{notation}).format(n)));
S.ccompact = (l) => l === 'ar' ? [] : ['EUR','USD','CHF'].flatMap(currency => [1234,-1.2e6,500,5e9].map(n=>new Intl.NumberFormat(l,{style:'currency',currency,notation:'compact'}).format(n)));
S.per = (l) => ['kilometer-per-hour','mile-per-hour','meter-per-second','liter-per-kilometer','mile-per-gallon','megabyte-per-second','kilobit-per-second','gram-per-liter','byte-per-day','celsius-per-minute','acre-per-gram'].flatMap(unit => ['short','narrow','long'].flatMap(unitDisplay => { const f = new Intl.NumberFormat(l,{style:'unit',unit,unitDisplay}); return [1,2,5,-1.5].map(n=>f.format(n)); }));
S.unitParts = (l) => ['celsius','kilometer-per-hour','percent'].map(unit=>JSON.stringify(new Intl.NumberFormat(l,{style:'unit',unit,unitDisplay:'long'}).formatToParts(-1234.5)));
S.unitCompact = (l) => [12345,5e6].flatMap(n => ['short','long'].map(unitDisplay => new Intl.NumberFormat(l,{style:'unit',unit:'byte',notation:'compact',unitDisplay}).format(n)));
S.full = (l) => ['UTC','Europe/Berlin','America/New_York','Asia/Tokyo','Europe/London','Asia/Kolkata','Australia/Sydney','America/Sao_Paulo'].flatMap(timeZone => [d,e].flatMap(t=>[['full','full'],['medium','full'],['full','long']].map(([dateStyle,timeStyle])=>new Intl.DateTimeFormat(l,{dateStyle,timeStyle,timeZone}).format(t))));
S.zones = (l) => ['UTC','Europe/Berlin','America/New_York','Asia/Tokyo','Europe/Dublin','Asia/Dubai','Africa/Cairo','America/Bogota'].flatMap(timeZone => ['long','longGeneric'].flatMap(timeZoneName => [d,e].map(t=>new Intl.DateTimeFormat(l,{timeZoneName,timeZone,hour:'numeric',minute:'2-digit'}).format(t))));
S.zoneDates = (l) => ['UTC','Europe/Berlin'].flatMap(timeZone => ['short','long'].map(timeZoneName=>new Intl.DateTimeFormat(l,{timeZoneName,timeZone}).format(d)));
const ranges = [{},{dateStyle:'full'},{dateStyle:'long'},{dateStyle:'medium'},{dateStyle:'short'},{month:'long',day:'numeric'},{year:'numeric',month:'short',day:'numeric'},{weekday:'short',month:'short',day:'numeric'},{year:'numeric',month:'long'},{hour:'numeric',minute:'2-digit'},{timeStyle:'short'},{dateStyle:'medium',timeStyle:'short'},{month:'short',day:'numeric',hour:'numeric',minute:'2-digit'},{year:'numeric',month:'2-digit',day:'2-digit'}];
const ends = [[2024,0,5,14,3],[2024,0,5,14,30],[2024,0,5,19,3],[2024,0,9,3,3],[2024,10,12,14,3],[2025,1,5,14,3]].map(a=>new Date(Date.UTC(...a))), morning = new Date(Date.UTC(2024,0,5,9,3));
S.range = (l) => ranges.flatMap(o=>{ const f = new Intl.DateTimeFormat(l,{timeZone:'UTC',...o}); return [...ends.map(t=>f.formatRange(d,t)), f.formatRange(morning,ends[2])]; });
S.rangeParts = (l) => [JSON.stringify(new Intl.DateTimeFormat(l,{timeZone:'UTC',dateStyle:'long'}).formatRangeToParts(d,ends[3]))];
S.locale = (l) => [l, new Intl.Locale(l).maximize().toString()].flatMap(t=>{ const x=new Intl.Locale(t); return [JSON.stringify([x.weekInfo??x.getWeekInfo(),x.calendars,x.hourCycles,x.numberingSystems,x.collations,x.textInfo,x.timeZones])]; });
S.field = (l) => ['long','short','narrow'].flatMap(style=>{const f=new Intl.DisplayNames(l,{type:'dateTimeField',style});return ['era','year','quarter','month','weekOfYear','weekday','day','dayPeriod','hour','minute','second','timeZoneName'].map(n=>f.of(n));});

for (const n of Object.keys(S)) for (const l of locales) console.log(`${n} ${l}: ${S[n](l).join(' | ')}`);
