"""How a page looks: one palette in light and dark, charts, the page, print. Text only, no files."""

PAPER_LIGHT, PAPER_DARK = "#ffffff", "#12161b"
LIGHT = f"""--ink:#1c2128;--soft:#5a6472;--line:#dde2e8;--paper:{PAPER_LIGHT};--wash:#f5f7f9;--accent:#1f5fa8;
--band:#c9dcf1;--good:#19703a;--bad:#b3261e;--maybe:#8a5a00;--void:#6b46b5;--beyond:#b3261e14;"""
DARK = f"""--ink:#e4e8ed;--soft:#98a3b0;--line:#2d343d;--paper:{PAPER_DARK};--wash:#1a2027;--accent:#74b1f5;
--band:#2b4a6d;--good:#5cc983;--bad:#ff8a80;--maybe:#e0b04a;--void:#b99cf2;--beyond:#ff8a801f;"""

PALETTE = f":root{{color-scheme:light dark;{LIGHT}}}@media (prefers-color-scheme:dark){{:root{{{DARK}}}}}"

FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue','Liberation Sans',Arial,sans-serif"

TONES = """.v-none{--tone:var(--accent)}.v-pass{--tone:var(--good)}.v-regressed{--tone:var(--bad)}
.v-inconclusive{--tone:var(--maybe)}.v-invalid{--tone:var(--void)}"""
"""The colour of each outcome; a shape and a word always stand beside it."""

CHARTS = f"""{TONES}
svg{{font-family:{FONT};font-size:12px;overflow:visible;display:block}}
svg.chart,img.chart{{max-width:100%;height:auto}}
svg text{{fill:var(--ink);font-variant-numeric:tabular-nums}}
svg text.tick{{fill:var(--soft);font-size:11px}}
svg text.label{{font-weight:600}}
svg text.figure{{paint-order:stroke;stroke:var(--paper);stroke-width:5px;stroke-linejoin:round}}
svg .grid{{stroke:var(--line)}}
svg .zero{{stroke:var(--soft);stroke-width:1.5}}
svg .axis{{stroke:var(--line);stroke-width:2;stroke-linecap:round}}
svg .band{{fill:var(--band)}}
svg .dot{{fill:var(--accent)}}
svg .run{{stroke:var(--accent);stroke-width:1.5;opacity:.55}}
svg .beyond{{fill:var(--beyond)}}
svg .margin{{stroke:var(--bad);stroke-dasharray:3 2}}
svg .whisker{{stroke:var(--tone);stroke-width:2}}
svg .mark{{fill:var(--tone);stroke:var(--paper);stroke-width:1}}
svg .mark.hollow{{fill:var(--paper);stroke:var(--tone);stroke-width:2}}
svg .cross{{stroke:var(--tone);stroke-width:2.5;fill:none}}
"""

PAGE = f"""
*{{box-sizing:border-box}}
html{{-webkit-text-size-adjust:100%}}
body{{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 {FONT};font-variant-numeric:tabular-nums}}
main{{max-width:1080px;margin:0 auto;padding:28px 20px 64px}}
header p{{margin:0}}
h1{{font-size:15px;font-weight:600;margin:0;color:var(--soft)}}
h2{{font-size:20px;line-height:1.3;margin:52px 0 4px;letter-spacing:-.01em}}
h3{{font-size:15px;margin:26px 0 2px}}
p,li{{max-width:74ch;overflow-wrap:anywhere}}
p.note{{color:var(--soft);font-size:14px;margin:2px 0 14px}}
.verdict{{border:1px solid var(--line);border-left:6px solid var(--tone);border-radius:8px;background:var(--wash);
 padding:18px 22px;margin:20px 0 0}}
.verdict p.say{{font-size:21px;line-height:1.42;margin:10px 0 0;text-wrap:pretty}}
.verdict p.more{{color:var(--soft);font-size:14px;margin:10px 0 0}}
.verdict ul{{margin:10px 0 0;padding-left:20px;font-size:15px}}
.word{{display:inline-block;white-space:nowrap;font-weight:700;font-size:12.5px;letter-spacing:.03em;color:var(--tone);
 border:1.5px solid var(--tone);border-radius:99px;padding:1px 9px 1px 7px;line-height:1.45}}
.verdict .word{{font-size:14px;padding:2px 12px 2px 10px}}
.going{{height:8px;border-radius:4px;background:var(--line);margin:14px 0 2px;overflow:hidden;max-width:74ch}}
.going span{{display:block;height:8px;background:var(--tone)}}
.scroll{{overflow-x:auto;margin:12px -20px 0;padding:0 20px 4px}}
table{{border-collapse:separate;border-spacing:0;font-size:14px;min-width:100%}}
th,td{{text-align:left;padding:9px 14px 9px 0;border-bottom:1px solid var(--line);vertical-align:top}}
thead th{{color:var(--soft);font-weight:600;font-size:12.5px;vertical-align:bottom;border-bottom-color:var(--soft)}}
tbody th{{font-weight:600;max-width:260px;overflow-wrap:anywhere}}
th small code{{white-space:nowrap}}
th small,td small{{display:block;font-weight:400;color:var(--soft);font-size:12.5px;line-height:1.45}}
td.n,th.n{{text-align:right;white-space:nowrap}}
td.n:last-child,th.n:last-child{{padding-right:0}}
td b{{font-size:17px;font-weight:650}}
table.even th:first-child{{width:30%}}
table.matrix td{{min-width:158px}}
table.matrix td small{{white-space:nowrap}}
.tag{{font-size:11.5px;font-weight:600;color:var(--accent);border:1px solid var(--band);border-radius:4px;padding:0 5px;
 white-space:nowrap}}
.warn{{color:var(--maybe)}}
code{{font:12.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace;overflow-wrap:anywhere}}
.strip{{margin:5px 0 4px;display:block}}
img.chart{{max-width:100%;height:auto}}
.panels{{display:grid;grid-template-columns:repeat(auto-fill,minmax(300px,1fr));gap:8px 24px;margin-top:12px}}
.narrow{{display:none}}
dl{{display:grid;grid-template-columns:max-content 1fr;gap:4px 18px;font-size:14px;margin:8px 0 0}}
dt{{color:var(--soft)}}dd{{margin:0;overflow-wrap:anywhere;min-width:0}}
footer{{margin-top:56px;padding-top:14px;border-top:1px solid var(--line);color:var(--soft);font-size:13px}}
@media (max-width:640px){{main{{padding:18px 16px 48px}}.scroll{{margin:12px -16px 0;padding:0 16px 4px}}
 .wide{{display:none}}.narrow{{display:block}}.verdict{{padding:14px 16px}}.verdict p.say{{font-size:18px}}
 h2{{margin-top:40px}}tbody th{{min-width:136px;max-width:150px}}
 tbody th,thead th:first-child{{position:sticky;left:0;background:var(--paper);box-shadow:-16px 0 0 var(--paper)}}}}
@media print{{:root{{color-scheme:light;{LIGHT}}}body{{font-size:11pt}}main{{max-width:none;padding:0}}
 .scroll{{overflow:visible;margin:12px 0 0;padding:0}}
 h2,h3{{break-after:avoid}}tr,figure,.verdict,svg{{break-inside:avoid}}
 *{{print-color-adjust:exact;-webkit-print-color-adjust:exact}}}}
"""


def fragment(dark: bool) -> str:
    """The style of a part of a page that stands in someone else's page, under `.evalctl`, in the theme given."""
    return f".evalctl{{{DARK if dark else LIGHT}{TONES}{PAGE}color:var(--ink);font:16px/1.55 {FONT}}}"


def image(dark: bool) -> str:
    """The style of a chart that stands alone, as an image, in the theme given."""
    return f":root{{{DARK if dark else LIGHT}}}{CHARTS}"
