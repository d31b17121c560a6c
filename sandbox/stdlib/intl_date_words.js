// Dates with words in the locales of intl_date.js. Each pattern gave what Node gives for each day of a year.
(host, internal) => {
  'use strict';
  const { p, intl } = internal;
  // A locale has lists of names, patterns, what stands before a time of a date whose month is long or short, and the
  // patterns that may have a time. The key of a pattern is a dateStyle, or the weekday (L long, S short), a dot, and y, M (a
  // long month) or S (a short one), and d. In a pattern {A} is the month of list A, {a} the weekday of list a, {1} and {2}
  // the day with one digit and two, {4} and {3} the year with four and two.
  intl.dateWords = {
    __proto__: null,
    de: [['Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember', 'Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez', 'Jan.|Feb.|März|Apr.|Mai|Juni|Juli|Aug.|Sept.|Okt.|Nov.|Dez.', 'Sonntag|Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag', 'So|Mo|Di|Mi|Do|Fr|Sa', 'So.|Mo.|Di.|Mi.|Do.|Fr.|Sa.', '01|02|03|04|05|06|07|08|09|10|11|12'], {
      '.M': '{A}', '.Md': '{1}. {A}', '.S': '{B}', '.Sd': '{1}. {C}', '.yM': '{A} {4}', '.yMd': '{1}. {A} {4}', '.yS': '{C} {4}', '.ySd': '{1}. {C} {4}',
      'L': '{d}', 'L.Md': '{d}, {1}. {A}', 'L.Sd': '{d}, {1}. {C}', 'L.yMd': '{d}, {1}. {A} {4}', 'L.ySd': '{d}, {1}. {C} {4}', 'S': '{e}',
      'S.Md': '{f}, {1}. {A}', 'S.Sd': '{f}, {1}. {C}', 'S.yMd': '{f}, {1}. {A} {4}', 'S.ySd': '{f}, {1}. {C} {4}', 'full': '{d}, {1}. {A} {4}',
      'long': '{1}. {A} {4}', 'medium': '{2}.{G}.{4}',
    }, [' um ', ', '], '.M .Md .S .Sd .yM .yMd .yS .ySd L L.Md L.Sd L.yMd L.ySd S.Md S.Sd S.yMd S.ySd full long medium'],
    fr: [['janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre', 'janv.|févr.|mars|avr.|mai|juin|juil.|août|sept.|oct.|nov.|déc.', 'dimanche|lundi|mardi|mercredi|jeudi|vendredi|samedi', 'dim.|lun.|mar.|mer.|jeu.|ven.|sam.'], {
      '.M': '{A}', '.Md': '{1} {A}', '.S': '{B}', '.Sd': '{1} {B}', '.yM': '{A} {4}', '.yMd': '{1} {A} {4}', '.yS': '{B} {4}', '.ySd': '{1} {B} {4}',
      'L': '{c}', 'L.Md': '{c} {1} {A}', 'L.Sd': '{c} {1} {B}', 'L.yMd': '{c} {1} {A} {4}', 'L.ySd': '{c} {1} {B} {4}', 'S': '{d}', 'S.Md': '{d} {1} {A}',
      'S.Sd': '{d} {1} {B}', 'S.yMd': '{d} {1} {A} {4}', 'S.ySd': '{d} {1} {B} {4}', 'full': '{c} {1} {A} {4}', 'long': '{1} {A} {4}',
      'medium': '{1} {B} {4}',
    }, [' à ', ', '], '.M .Md .S .Sd .yM .yMd .yS .ySd L.Md L.Sd L.yMd L.ySd S.Md S.Sd S.yMd S.ySd full long medium'],
    es: [['enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre', 'ene|feb|mar|abr|may|jun|jul|ago|sept|oct|nov|dic', 'domingo|lunes|martes|miércoles|jueves|viernes|sábado', 'dom|lun|mar|mié|jue|vie|sáb'], {
      '.M': '{A}', '.Md': '{1} de {A}', '.S': '{B}', '.Sd': '{1} {B}', '.yM': '{A} de {4}', '.yMd': '{1} de {A} de {4}', '.yS': '{B} {4}',
      '.ySd': '{1} {B} {4}', 'L': '{c}', 'L.Md': '{c}, {1} de {A}', 'L.Sd': '{c}, {1} {B}', 'L.yMd': '{c}, {1} de {A} de {4}',
      'L.ySd': '{c}, {1} de {B} de {4}', 'S': '{d}', 'S.Md': '{d}, {1} de {A}', 'S.Sd': '{d}, {1} {B}', 'S.yMd': '{d}, {1} de {A} de {4}',
      'S.ySd': '{d}, {1} {B} {4}', 'full': '{c}, {1} de {A} de {4}', 'long': '{1} de {A} de {4}', 'medium': '{1} {B} {4}',
    }, [' a las ', ', '], '.M .Md .S .Sd .yM .yMd .yS .ySd L L.Sd L.ySd S S.Sd S.ySd long medium'],
    it: [['gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre', 'gen|feb|mar|apr|mag|giu|lug|ago|set|ott|nov|dic', 'domenica|lunedì|martedì|mercoledì|giovedì|venerdì|sabato', 'dom|lun|mar|mer|gio|ven|sab'], {
      '.M': '{A}', '.Md': '{1} {A}', '.S': '{B}', '.Sd': '{1} {B}', '.yM': '{A} {4}', '.yMd': '{1} {A} {4}', '.yS': '{B} {4}', '.ySd': '{1} {B} {4}',
      'L': '{c}', 'L.Md': '{c} {1} {A}', 'L.Sd': '{c} {1} {B}', 'L.yMd': '{c} {1} {A} {4}', 'L.ySd': '{c} {1} {B} {4}', 'S': '{d}', 'S.Md': '{d} {1} {A}',
      'S.Sd': '{d} {1} {B}', 'S.yMd': '{d} {1} {A} {4}', 'S.ySd': '{d} {1} {B} {4}', 'full': '{c} {1} {A} {4}', 'long': '{1} {A} {4}',
      'medium': '{1} {B} {4}',
    }, [' alle ore ', ', '], '.M .Md .S .Sd .yM .yMd .yS .ySd L.Md L.Sd L.yMd L.ySd S.Md S.Sd S.yMd S.ySd full long medium'],
    pt: [['janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro', 'jan.|fev.|mar.|abr.|mai.|jun.|jul.|ago.|set.|out.|nov.|dez.', 'domingo|segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira|sábado', 'dom.|seg.|ter.|qua.|qui.|sex.|sáb.'], {
      '.M': '{A}', '.Md': '{1} de {A}', '.S': '{B}', '.Sd': '{1} de {B}', '.yM': '{A} de {4}', '.yMd': '{1} de {A} de {4}', '.yS': '{B} de {4}',
      '.ySd': '{1} de {B} de {4}', 'L': '{c}', 'L.Md': '{c}, {1} de {A}', 'L.Sd': '{c}, {1} de {B}', 'L.yMd': '{c}, {1} de {A} de {4}',
      'L.ySd': '{c}, {1} de {B} de {4}', 'S': '{d}', 'S.Md': '{d}, {1} de {A}', 'S.Sd': '{d}, {1} de {B}', 'S.yMd': '{d}, {1} de {A} de {4}',
      'S.ySd': '{d}, {1} de {B} de {4}', 'full': '{c}, {1} de {A} de {4}', 'long': '{1} de {A} de {4}', 'medium': '{1} de {B} de {4}',
    }, [' às ', ', '], '.M .Md .S .Sd .yM .yMd .yS .ySd L L.Md L.Sd L.yMd L.ySd S S.Md S.Sd S.yMd S.ySd full long medium'],
    'pt-PT': [['janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro', 'jan.|fev.|mar.|abr.|mai.|jun.|jul.|ago.|set.|out.|nov.|dez.', '01|02|03|04|05|06|07|08|09|10|11|12', 'domingo|segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira|sábado', 'domingo|segunda|terça|quarta|quinta|sexta|sábado'], {
      '.M': '{A}', '.Md': '{1} de {A}', '.S': '{B}', '.Sd': '{1}/{C}', '.yM': '{A} de {4}', '.yMd': '{1} de {A} de {4}', '.yS': '{C}/{4}',
      '.ySd': '{1}/{C}/{4}', 'L': '{d}', 'L.Md': '{d}, {1} de {A}', 'L.Sd': '{d}, {1}/{C}', 'L.yMd': '{d}, {1} de {A} de {4}', 'L.ySd': '{d}, {1}/{C}/{4}',
      'S': '{e}', 'S.Md': '{e}, {1} de {A}', 'S.Sd': '{e}, {1}/{C}', 'S.yMd': '{e}, {1} de {A} de {4}', 'S.ySd': '{e}, {1}/{C}/{4}',
      'full': '{d}, {1} de {A} de {4}', 'long': '{1} de {A} de {4}', 'medium': '{2}/{C}/{4}',
    }, [' às ', ', '], '.M .Md .S .Sd .yM .yMd .yS .ySd L L.Md L.Sd L.yMd L.ySd S S.Md S.Sd S.yMd S.ySd full long medium'],
    nl: [['januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december', 'jan|feb|mrt|apr|mei|jun|jul|aug|sep|okt|nov|dec', 'zondag|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag', 'zo|ma|di|wo|do|vr|za'], {
      '.M': '{A}', '.Md': '{1} {A}', '.S': '{B}', '.Sd': '{1} {B}', '.yM': '{A} {4}', '.yMd': '{1} {A} {4}', '.yS': '{B} {4}', '.ySd': '{1} {B} {4}',
      'L': '{c}', 'L.Md': '{c} {1} {A}', 'L.Sd': '{c} {1} {B}', 'L.yMd': '{c} {1} {A} {4}', 'L.ySd': '{c} {1} {B} {4}', 'S': '{d}', 'S.Md': '{d} {1} {A}',
      'S.Sd': '{d} {1} {B}', 'S.yMd': '{d} {1} {A} {4}', 'S.ySd': '{d} {1} {B} {4}', 'full': '{c} {1} {A} {4}', 'long': '{1} {A} {4}',
      'medium': '{1} {B} {4}',
    }, [' om ', ', '], '.M .Md .S .Sd .yM .yMd .yS .ySd L.Md L.Sd L.yMd L.ySd S.Md S.Sd S.yMd S.ySd full long medium'],
    sv: [['januari|februari|mars|april|maj|juni|juli|augusti|september|oktober|november|december', 'jan.|feb.|mars|apr.|maj|juni|juli|aug.|sep.|okt.|nov.|dec.', 'söndag|måndag|tisdag|onsdag|torsdag|fredag|lördag', 'sön|mån|tis|ons|tors|fre|lör'], {
      '.M': '{A}', '.Md': '{1} {A}', '.S': '{B}', '.Sd': '{1} {B}', '.yM': '{A} {4}', '.yMd': '{1} {A} {4}', '.yS': '{B} {4}', '.ySd': '{1} {B} {4}',
      'L': '{c}', 'L.Md': '{c} {1} {A}', 'L.Sd': '{c} {1} {B}', 'L.yMd': '{c} {1} {A} {4}', 'L.ySd': '{c} {1} {B} {4}', 'S': '{d}', 'S.Md': '{d} {1} {A}',
      'S.Sd': '{d} {1} {B}', 'S.yMd': '{d} {1} {A} {4}', 'S.ySd': '{d} {1} {B} {4}', 'full': '{c} {1} {A} {4}', 'long': '{1} {A} {4}',
      'medium': '{1} {B} {4}',
    }, [' kl. ', ' '], '.M .Md .S .Sd .yM .yMd .yS .ySd L L.Md L.Sd L.yMd L.ySd S S.Md S.Sd S.yMd S.ySd full long medium'],
    nb: [['januar|februar|mars|april|mai|juni|juli|august|september|oktober|november|desember', 'jan|feb|mar|apr|mai|jun|jul|aug|sep|okt|nov|des', 'jan.|feb.|mars|apr.|mai|juni|juli|aug.|sep.|okt.|nov.|des.', 'søndag|mandag|tirsdag|onsdag|torsdag|fredag|lørdag', 'søn.|man.|tir.|ons.|tor.|fre.|lør.'], {
      '.M': '{A}', '.Md': '{1}. {A}', '.S': '{B}', '.Sd': '{1}. {C}', '.yM': '{A} {4}', '.yMd': '{1}. {A} {4}', '.yS': '{C} {4}', '.ySd': '{1}. {C} {4}',
      'L': '{d}', 'L.Md': '{d} {1}. {A}', 'L.Sd': '{d} {1}. {C}', 'L.yMd': '{d} {1}. {A} {4}', 'L.ySd': '{d} {1}. {C} {4}', 'S': '{e}',
      'S.Md': '{e} {1}. {A}', 'S.Sd': '{e} {1}. {C}', 'S.yMd': '{e} {1}. {A} {4}', 'S.ySd': '{e} {1}. {C} {4}', 'full': '{d} {1}. {A} {4}',
      'long': '{1}. {A} {4}', 'medium': '{1}. {C} {4}',
    }, [' kl. ', ', '], '.M .Md .S .Sd .yM .yMd .yS .ySd L.Md L.Sd L.yMd L.ySd S.Md S.Sd S.yMd S.ySd full long medium'],
    pl: [['styczeń|luty|marzec|kwiecień|maj|czerwiec|lipiec|sierpień|wrzesień|październik|listopad|grudzień', 'stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia|września|października|listopada|grudnia', 'sty|lut|mar|kwi|maj|cze|lip|sie|wrz|paź|lis|gru', 'niedziela|poniedziałek|wtorek|środa|czwartek|piątek|sobota', 'niedz.|pon.|wt.|śr.|czw.|pt.|sob.'], {
      '.M': '{A}', '.Md': '{1} {B}', '.S': '{C}', '.Sd': '{1} {C}', '.yM': '{A} {4}', '.yMd': '{1} {B} {4}', '.yS': '{C} {4}', '.ySd': '{1} {C} {4}',
      'L': '{d}', 'L.Md': '{d}, {1} {B}', 'L.Sd': '{d}, {1} {C}', 'L.yMd': '{d}, {1} {B} {4}', 'L.ySd': '{d}, {1} {C} {4}', 'S': '{e}',
      'S.Md': '{e}, {1} {B}', 'S.Sd': '{e}, {1} {C}', 'S.yMd': '{e}, {1} {B} {4}', 'S.ySd': '{e}, {1} {C} {4}', 'full': '{d}, {1} {B} {4}',
      'long': '{1} {B} {4}', 'medium': '{1} {C} {4}',
    }, [' ', ', '], '.M .Md .S .Sd .yM .yMd .yS .ySd L L.Md L.Sd L.yMd L.ySd S S.Md S.Sd S.yMd S.ySd full long medium'],
    cs: [['leden|únor|březen|duben|květen|červen|červenec|srpen|září|říjen|listopad|prosinec', 'ledna|února|března|dubna|května|června|července|srpna|září|října|listopadu|prosince', 'led|úno|bře|dub|kvě|čvn|čvc|srp|zář|říj|lis|pro', '1|2|3|4|5|6|7|8|9|10|11|12', 'neděle|pondělí|úterý|středa|čtvrtek|pátek|sobota', 'ne|po|út|st|čt|pá|so'], {
      '.M': '{A}', '.Md': '{1}. {B}', '.S': '{C}', '.Sd': '{1}. {D}.', '.yM': '{A} {4}', '.yMd': '{1}. {B} {4}', '.yS': '{A} {4}', '.ySd': '{1}. {D}. {4}',
      'L': '{e}', 'L.Md': '{e} {1}. {B}', 'L.Sd': '{e} {1}. {D}.', 'L.yMd': '{e} {1}. {B} {4}', 'L.ySd': '{e} {1}. {C} {4}', 'S': '{f}',
      'S.Md': '{f} {1}. {B}', 'S.Sd': '{f} {1}. {D}.', 'S.yMd': '{f} {1}. {B} {4}', 'S.ySd': '{f} {1}. {D}. {4}', 'full': '{e} {1}. {B} {4}',
      'long': '{1}. {B} {4}', 'medium': '{1}. {D}. {4}',
    }, [' v ', ' '], '.M .Md .S .Sd .yM .yMd .yS .ySd L L.Md L.Sd L.yMd L.ySd S S.Md S.Sd S.yMd S.ySd full long medium'],
    ru: [['январь|февраль|март|апрель|май|июнь|июль|август|сентябрь|октябрь|ноябрь|декабрь', 'января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря', 'янв.|февр.|март|апр.|май|июнь|июль|авг.|сент.|окт.|нояб.|дек.', 'янв.|февр.|мар.|апр.|мая|июн.|июл.|авг.|сент.|окт.|нояб.|дек.', 'воскресенье|понедельник|вторник|среда|четверг|пятница|суббота', 'вс|пн|вт|ср|чт|пт|сб'], {
      '.M': '{A}', '.Md': '{1} {B}', '.S': '{C}', '.Sd': '{1} {D}', '.yM': '{A} {4} г.', '.yMd': '{1} {B} {4} г.', '.yS': '{C} {4} г.',
      '.ySd': '{1} {D} {4} г.', 'L': '{e}', 'L.Md': '{e}, {1} {B}', 'L.Sd': '{e}, {1} {D}', 'L.yMd': '{e}, {1} {B} {4} г.', 'L.ySd': '{e}, {1} {D} {4} г.',
      'S': '{f}', 'S.Md': '{f}, {1} {B}', 'S.Sd': '{f}, {1} {D}', 'S.yMd': '{f}, {1} {B} {4} г.', 'S.ySd': '{f}, {1} {D} {4} г.',
      'full': '{e}, {1} {B} {4} г.', 'long': '{1} {B} {4} г.', 'medium': '{1} {D} {4} г.',
    }, [' в ', ', '], '.M .Md .S .Sd .yM .yMd .yS .ySd L.Md L.Sd L.yMd L.ySd S.Md S.Sd S.yMd S.ySd full long medium'],
    tr: [['Ocak|Şubat|Mart|Nisan|Mayıs|Haziran|Temmuz|Ağustos|Eylül|Ekim|Kasım|Aralık', 'Oca|Şub|Mar|Nis|May|Haz|Tem|Ağu|Eyl|Eki|Kas|Ara', 'Pazar|Pazartesi|Salı|Çarşamba|Perşembe|Cuma|Cumartesi', 'Paz|Pzt|Sal|Çar|Per|Cum|Cmt'], {
      '.M': '{A}', '.Md': '{1} {A}', '.S': '{B}', '.Sd': '{1} {B}', '.yM': '{A} {4}', '.yMd': '{1} {A} {4}', '.yS': '{B} {4}', '.ySd': '{1} {B} {4}',
      'L': '{c}', 'L.Md': '{1} {A} {c}', 'L.Sd': '{1} {B} {c}', 'L.yMd': '{1} {A} {4} {c}', 'L.ySd': '{1} {B} {4} {c}', 'S': '{d}', 'S.Md': '{1} {A} {d}',
      'S.Sd': '{1} {B} {d}', 'S.yMd': '{1} {A} {4} {d}', 'S.ySd': '{1} {B} {4} {d}', 'full': '{1} {A} {4} {c}', 'long': '{1} {A} {4}',
      'medium': '{1} {B} {4}',
    }, [' ', ' '], '.M .Md .S .Sd .yM .yMd .yS .ySd L L.Md L.Sd L.yMd L.ySd S S.Md S.Sd S.yMd S.ySd full long medium'],
    ja: [['1|2|3|4|5|6|7|8|9|10|11|12', '日曜日|月曜日|火曜日|水曜日|木曜日|金曜日|土曜日', '日|月|火|水|木|金|土', '01|02|03|04|05|06|07|08|09|10|11|12'], {
      '.M': '{A}月', '.Md': '{A}月{1}日', '.S': '{A}月', '.Sd': '{A}月{1}日', '.yM': '{4}年{A}月', '.yMd': '{4}年{A}月{1}日', '.yS': '{4}年{A}月', '.ySd': '{4}年{A}月{1}日',
      'L': '{b}', 'L.Md': '{A}月{1}日{b}', 'L.Sd': '{A}月{1}日{b}', 'L.yMd': '{4}年{A}月{1}日{b}', 'L.ySd': '{4}年{A}月{1}日{b}', 'S': '{c}', 'S.Md': '{A}月{1}日({c})',
      'S.Sd': '{A}月{1}日({c})', 'S.yMd': '{4}年{A}月{1}日({c})', 'S.ySd': '{4}年{A}月{1}日({c})', 'full': '{4}年{A}月{1}日{b}', 'long': '{4}年{A}月{1}日',
      'medium': '{4}/{D}/{2}',
    }, [' ', ' '], '.M .Md .S .Sd .yM .yMd .yS .ySd L.Md L.Sd L.yMd L.ySd S.Md S.Sd S.yMd S.ySd full long medium'],
    zh: [['一月|二月|三月|四月|五月|六月|七月|八月|九月|十月|十一月|十二月', '1|2|3|4|5|6|7|8|9|10|11|12', '1月|2月|3月|4月|5月|6月|7月|8月|9月|10月|11月|12月', '星期日|星期一|星期二|星期三|星期四|星期五|星期六', '周日|周一|周二|周三|周四|周五|周六'], {
      '.M': '{A}', '.Md': '{B}月{1}日', '.S': '{C}', '.Sd': '{B}月{1}日', '.yM': '{4}年{B}月', '.yMd': '{4}年{B}月{1}日', '.yS': '{4}年{B}月', '.ySd': '{4}年{B}月{1}日',
      'L': '{d}', 'L.Md': '{B}月{1}日{d}', 'L.Sd': '{B}月{1}日{d}', 'L.yMd': '{4}年{B}月{1}日{d}', 'L.ySd': '{4}年{B}月{1}日{d}', 'S': '{e}', 'S.Md': '{B}月{1}日{e}',
      'S.Sd': '{B}月{1}日{e}', 'S.yMd': '{4}年{B}月{1}日{e}', 'S.ySd': '{4}年{B}月{1}日{e}', 'full': '{4}年{B}月{1}日{d}', 'long': '{4}年{B}月{1}日',
      'medium': '{4}年{B}月{1}日',
    }, [' ', ' '], '.M .Md .S .Sd .yM .yMd .yS .ySd L.Md L.Sd L.yMd L.ySd S.Md S.Sd S.yMd S.ySd full long medium'],
    'en-GB': [['January|February|March|April|May|June|July|August|September|October|November|December', 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept|Oct|Nov|Dec', 'Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday', 'Sun|Mon|Tue|Wed|Thu|Fri|Sat'], {
      '.M': '{A}', '.Md': '{1} {A}', '.S': '{B}', '.Sd': '{1} {B}', '.yM': '{A} {4}', '.yMd': '{1} {A} {4}', '.yS': '{B} {4}', '.ySd': '{1} {B} {4}',
      'L': '{c}', 'L.Md': '{c} {1} {A}', 'L.Sd': '{c} {1} {B}', 'L.yMd': '{c}, {1} {A} {4}', 'L.ySd': '{c}, {1} {B} {4}', 'S': '{d}', 'S.Md': '{d} {1} {A}',
      'S.Sd': '{d} {1} {B}', 'S.yMd': '{d}, {1} {A} {4}', 'S.ySd': '{d}, {1} {B} {4}', 'full': '{c}, {1} {A} {4}', 'long': '{1} {A} {4}',
      'medium': '{1} {B} {4}',
    }, [' at ', ', '], '.M .Md .S .Sd .yM .yMd .yS .ySd L.Md L.Sd L.yMd L.ySd S.Md S.Sd S.yMd S.ySd full long medium'],
    'en-AU': [['January|February|March|April|May|June|July|August|September|October|November|December', 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept|Oct|Nov|Dec', 'Jan|Feb|Mar|Apr|May|June|July|Aug|Sept|Oct|Nov|Dec', 'Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday', 'Sun|Mon|Tue|Wed|Thu|Fri|Sat'], {
      '.M': '{A}', '.Md': '{1} {A}', '.S': '{B}', '.Sd': '{1} {C}', '.yM': '{A} {4}', '.yMd': '{1} {A} {4}', '.yS': '{C} {4}', '.ySd': '{1} {C} {4}',
      'L': '{d}', 'L.Md': '{d} {1} {A}', 'L.Sd': '{d} {1} {C}', 'L.yMd': '{d} {1} {A} {4}', 'L.ySd': '{d} {1} {C} {4}', 'S': '{e}', 'S.Md': '{e} {1} {A}',
      'S.Sd': '{e}, {1} {C}', 'S.yMd': '{e} {1} {A} {4}', 'S.ySd': '{e}, {1} {C} {4}', 'full': '{d}, {1} {A} {4}', 'long': '{1} {A} {4}',
      'medium': '{1} {C} {4}',
    }, [' at ', ', '], '.M .Md .S .Sd .yM .yMd .yS .ySd L.Md L.Sd L.yMd L.ySd S.Md S.Sd S.yMd S.ySd full long medium'],
    'en-IN': [['January|February|March|April|May|June|July|August|September|October|November|December', 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept|Oct|Nov|Dec', 'Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday', 'Sun|Mon|Tue|Wed|Thu|Fri|Sat'], {
      '.M': '{A}', '.Md': '{1} {A}', '.S': '{B}', '.Sd': '{1} {B}', '.yM': '{A} {4}', '.yMd': '{1} {A} {4}', '.yS': '{B} {4}', '.ySd': '{1} {B} {4}',
      'L': '{c}', 'L.Md': '{c}, {1} {A}', 'L.Sd': '{c}, {1} {B}', 'L.yMd': '{c}, {1} {A} {4}', 'L.ySd': '{c}, {1} {B} {4}', 'S': '{d}',
      'S.Md': '{d}, {1} {A}', 'S.Sd': '{d}, {1} {B}', 'S.yMd': '{d}, {1} {A} {4}', 'S.ySd': '{d}, {1} {B}, {4}', 'full': '{c}, {1} {A} {4}',
      'long': '{1} {A} {4}', 'medium': '{1} {B} {4}',
    }, [' at ', ', '], '.M .Md .S .Sd .yM .yMd .yS .ySd L L.Md L.Sd L.yMd L.ySd S S.Md S.Sd S.yMd S.ySd full long medium'],
    'en-NZ': [['January|February|March|April|May|June|July|August|September|October|November|December', 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept|Oct|Nov|Dec', 'Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday', 'Sun|Mon|Tue|Wed|Thu|Fri|Sat'], {
      '.M': '{A}', '.Md': '{1} {A}', '.S': '{B}', '.Sd': '{1} {B}', '.yM': '{A} {4}', '.yMd': '{1} {A} {4}', '.yS': '{B} {4}', '.ySd': '{1} {B} {4}',
      'L': '{c}', 'L.Md': '{c}, {1} {A}', 'L.Sd': '{c}, {1} {B}', 'L.yMd': '{c}, {1} {A} {4}', 'L.ySd': '{c}, {1} {B} {4}', 'S': '{d}',
      'S.Md': '{d}, {1} {A}', 'S.Sd': '{d}, {1} {B}', 'S.yMd': '{d}, {1} {A} {4}', 'S.ySd': '{d}, {1} {B} {4}', 'full': '{c}, {1} {A} {4}',
      'long': '{1} {A} {4}', 'medium': '{1} {B} {4}',
    }, [' at ', ', '], '.M .Md .S .Sd .yM .yMd .yS .ySd L.Md L.Sd L.yMd L.ySd S.Md S.Sd S.yMd S.ySd full long medium'],
    'en-IE': [['January|February|March|April|May|June|July|August|September|October|November|December', 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept|Oct|Nov|Dec', 'Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday', 'Sun|Mon|Tue|Wed|Thu|Fri|Sat'], {
      '.M': '{A}', '.Md': '{1} {A}', '.S': '{B}', '.Sd': '{1} {B}', '.yM': '{A} {4}', '.yMd': '{1} {A} {4}', '.yS': '{B} {4}', '.ySd': '{1} {B} {4}',
      'L': '{c}', 'L.Md': '{c}, {1} {A}', 'L.Sd': '{c}, {1} {B}', 'L.yMd': '{c} {1} {A} {4}', 'L.ySd': '{c} {1} {B} {4}', 'S': '{d}', 'S.Md': '{d}, {1} {A}',
      'S.Sd': '{d}, {1} {B}', 'S.yMd': '{d} {1} {A} {4}', 'S.ySd': '{d} {1} {B} {4}', 'full': '{c} {1} {A} {4}', 'long': '{1} {A} {4}',
      'medium': '{1} {B} {4}',
    }, [' at ', ', '], '.M .Md .S .Sd .yM .yMd .yS .ySd L.Md L.Sd L.yMd L.ySd S.Md S.Sd S.yMd S.ySd full long medium'],
    'en-CA': [['January|February|March|April|May|June|July|August|September|October|November|December', 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec', 'Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday', 'Sun|Mon|Tue|Wed|Thu|Fri|Sat'], {
      '.M': '{A}', '.Md': '{A} {1}', '.S': '{B}', '.Sd': '{B} {1}', '.yM': '{A} {4}', '.yMd': '{A} {1}, {4}', '.yS': '{B} {4}', '.ySd': '{B} {1}, {4}',
      'L': '{c}', 'L.Md': '{c}, {A} {1}', 'L.Sd': '{c}, {B} {1}', 'L.yMd': '{c}, {A} {1}, {4}', 'L.ySd': '{c}, {B} {1}, {4}', 'S': '{d}',
      'S.Md': '{d}, {A} {1}', 'S.Sd': '{d}, {B} {1}', 'S.yMd': '{d}, {A} {1}, {4}', 'S.ySd': '{d}, {B} {1}, {4}', 'full': '{c}, {A} {1}, {4}',
      'long': '{A} {1}, {4}', 'medium': '{B} {1}, {4}',
    }, [' at ', ', '], '.M .Md .S .Sd .yM .yMd .yS .ySd L.Md L.Sd L.yMd L.ySd S.Md S.Sd S.yMd S.ySd full long medium'],
    'de-AT': [['Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember', 'Jän|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez', 'Jän.|Feb.|März|Apr.|Mai|Juni|Juli|Aug.|Sep.|Okt.|Nov.|Dez.', 'Sonntag|Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag', 'So|Mo|Di|Mi|Do|Fr|Sa', 'So.|Mo.|Di.|Mi.|Do.|Fr.|Sa.', '01|02|03|04|05|06|07|08|09|10|11|12'], {
      '.M': '{A}', '.Md': '{1}. {A}', '.S': '{B}', '.Sd': '{1}. {C}', '.yM': '{A} {4}', '.yMd': '{1}. {A} {4}', '.yS': '{C} {4}', '.ySd': '{1}. {C} {4}',
      'L': '{d}', 'L.Md': '{d}, {1}. {A}', 'L.Sd': '{d}, {1}. {C}', 'L.yMd': '{d}, {1}. {A} {4}', 'L.ySd': '{d}, {1}. {C} {4}', 'S': '{e}',
      'S.Md': '{f}, {1}. {A}', 'S.Sd': '{f}, {1}. {C}', 'S.yMd': '{f}, {1}. {A} {4}', 'S.ySd': '{f}, {1}. {C} {4}', 'full': '{d}, {1}. {A} {4}',
      'long': '{1}. {A} {4}', 'medium': '{2}.{G}.{4}',
    }, [' um ', ', '], '.M .Md .S .Sd .yM .yMd .yS .ySd L L.Md L.Sd L.yMd L.ySd S.Md S.Sd S.yMd S.ySd full long medium'],
    'de-CH': [['Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember', 'Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez', 'Jan.|Feb.|März|Apr.|Mai|Juni|Juli|Aug.|Sept.|Okt.|Nov.|Dez.', 'Sonntag|Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag', 'So|Mo|Di|Mi|Do|Fr|Sa', 'So.|Mo.|Di.|Mi.|Do.|Fr.|Sa.', '01|02|03|04|05|06|07|08|09|10|11|12'], {
      '.M': '{A}', '.Md': '{1}. {A}', '.S': '{B}', '.Sd': '{1}. {C}', '.yM': '{A} {4}', '.yMd': '{1}. {A} {4}', '.yS': '{C} {4}', '.ySd': '{1}. {C} {4}',
      'L': '{d}', 'L.Md': '{d}, {1}. {A}', 'L.Sd': '{d}, {1}. {C}', 'L.yMd': '{d}, {1}. {A} {4}', 'L.ySd': '{d}, {1}. {C} {4}', 'S': '{e}',
      'S.Md': '{f}, {1}. {A}', 'S.Sd': '{f}, {1}. {C}', 'S.yMd': '{f}, {1}. {A} {4}', 'S.ySd': '{f}, {1}. {C} {4}', 'full': '{d}, {1}. {A} {4}',
      'long': '{1}. {A} {4}', 'medium': '{2}.{G}.{4}',
    }, [' um ', ', '], '.M .Md .S .Sd .yM .yMd .yS .ySd L L.Md L.Sd L.yMd L.ySd S.Md S.Sd S.yMd S.ySd full long medium'],
  };
  // wordClaims are the keys of the patterns by locale, with a t for a time. dateClaims say which locales print a time.
  intl.wordClaims = { __proto__: null };
  for (const entry in intl.dateWords) {
    const [, patterns,, timed] = intl.dateWords[entry];
    let keys = ' ';
    for (const key in patterns) keys += `${key} `;
    if (p.indexOf(intl.dateClaims[entry] ?? '', ' t ') >= 0) {
      const text = ` ${timed} `;
      for (const key in patterns) if (p.indexOf(text, ` ${key} `) >= 0) keys += `${key}+t `;
    }
    intl.wordClaims[entry] = keys;
  }

  // wordKey returns the key of a format in wordClaims, or undefined if none can be there.
  const letters = { __proto__: null, long: 'L', short: 'S' }, months = { __proto__: null, long: 'M', short: 'S' };
  intl.wordKey = (s, f, cycle) => {
    const hour = f.hour !== undefined && f.minute !== undefined;
    if (f.era !== undefined || f.dayPeriod !== undefined || f.timeZoneName !== undefined || cycle !== undefined && f.hour !== undefined) return undefined;
    if (!hour && (f.hour !== undefined || f.minute !== undefined || f.second !== undefined)) return undefined;
    const time = hour ? '+t' : '';
    if (s.dateStyle !== undefined) return s.dateStyle + time;
    if (f.weekday !== undefined && letters[f.weekday] === undefined || f.month !== undefined && months[f.month] === undefined) return undefined;
    if (f.month === undefined) return f.weekday === undefined || f.year !== undefined || f.day !== undefined ? undefined : letters[f.weekday] + time;
    return `${letters[f.weekday] ?? ''}.${f.year === undefined ? '' : 'y'}${months[f.month]}${f.day === undefined ? '' : 'd'}${time}`;
  };
  // wordsOf returns the pattern of a format in the locale of an entry, with its names, or undefined.
  intl.wordsOf = (entry, key) => {
    const found = intl.dateWords[entry];
    if (found === undefined || key === undefined || p.indexOf(intl.wordClaims[entry], ` ${key} `) < 0) return undefined;
    const name = p.endsWith(key, '+t') ? p.slice(key, 0, -2) : key;
    const long = p.indexOf(name, 'M') >= 0 || name === 'full' || name === 'long';
    return { __proto__: null, lists: found[0], pattern: found[1][name], glue: found[2][long ? 0 : 1] };
  };
  // nameIn returns the n'th of the names in a list.
  intl.nameIn = (list, n) => {
    let from = 0;
    for (; n > 0; n--) from = p.indexOf(list, '|', from) + 1;
    const end = p.indexOf(list, '|', from);
    return p.slice(list, from, end < 0 ? undefined : end);
  };
  return internal;
}
