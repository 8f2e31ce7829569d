"""Letters as programs write them: tables, fonts, style sheets, pictures in the mail and from elsewhere, in many combinations."""

import random

from .tricks import PIXEL

WORDS = "invoice meeting harbour summer picture order thanks tomorrow Grüße 京都 заказ résumé offer ticket weather train".split()
DOCTYPES = [
    "", "<!DOCTYPE html>", '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">',
    '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.0 Transitional//EN">', '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">',
]  # fmt: skip
SHEETS = [
    "body{font-family:Arial,'Helvetica Neue',sans-serif;margin:0;background:#f4f4f4} .card{background:#fff;padding:20px;border-radius:6px;box-shadow:0 1px 3px rgba(0,0,0,.3)}",
    "<!-- @font-face {font-family:Calibri;panose-1:2 15 5 2 2 2 4 3 2 4;} p.MsoNormal, li.MsoNormal {margin:0cm;font-size:11.0pt;font-family:\"Calibri\",sans-serif;} @page WordSection1 {size:612.0pt 792.0pt;} -->",
    "@media only screen and (max-width:600px){.card{width:100%!important}} @media (min-width:601px){.card{width:560px}} a:hover{color:red} td>p:first-child{color:#036}",
    "@import url(http://fonts.canary.example/css?family=Roboto); .card::before{content:'\\201C \\2014 ';color:#999} ul li{list-style:square} .card{background-image:linear-gradient(to right,#fff 0%,#eef 100%)}",
    ".card{background:#fe9 url(http://img.canary.example/bg.png) no-repeat top left;font-family:\\5b8b\\4f53,SimSun} h1{text-transform:uppercase;letter-spacing:.1em;transform:rotate(-1deg)}",
    ":root{--main:#246}h1{color:var(--main);width:calc(100% - 40px)}[class~=card]{outline:1px dashed #aaa}@supports(display:grid){.grid{display:grid;grid-template-columns:1fr 2fr}}",
]  # fmt: skip


def letters(count):
    for seed in range(count):
        numbers = random.Random(seed)
        yield letter(numbers)


def letter(numbers):
    def text(least=3, most=14):
        return " ".join(numbers.choice(WORDS) for _ in range(numbers.randint(least, most)))

    def block(depth=0):
        kind = numbers.randrange(22)
        style = numbers.choice([
            "", ' style="color:#333;padding:8px 12px"', " style='font:14px/1.5 Georgia,serif;border-left:3px solid #c00;padding-left:1em'",
            ' style="mso-margin-top-alt:auto;font-size:10.0pt;font-family:&quot;Verdana&quot;,sans-serif"', " bgcolor=#eeffee align=center",
            " style=\"background:url('http://img.canary.example/x.png') #ffe;width:50%\"", " class=card", " dir=rtl lang=he",
        ])  # fmt: skip
        if kind < 5:
            return f"<p{style}>{text()}<b>{text(1, 3)}</b> <i>{text(1, 2)}</i></p>"
        if kind < 7 and depth < 4:
            rows = "".join(
                f"<tr>{''.join(f'<td{style} width={numbers.choice([80, 120, 200])}>{block(depth + 1)}</td>' for _ in range(numbers.randint(1, 3)))}</tr>"
                for _ in range(numbers.randint(1, 4))
            )
            return f"<table border={numbers.randrange(2)} cellpadding=4 cellspacing={numbers.randrange(6)} width={numbers.choice(['100%', '600', '80%'])}>{rows}</table>"
        if kind < 9 and depth < 4:
            return f"<div{style}>{block(depth + 1)}{block(depth + 1)}</div>"
        if kind == 9:
            return f"<ul><li>{text()}<li>{text()}</ul><ol start=3><li>{text()}</ol>"
        if kind == 10:
            return f'<h{numbers.randint(1, 6)}>{text(1, 5)}</h{numbers.randint(1, 6)}><hr width="60%" size=3 noshade>'
        if kind == 11:
            return f'<img src="cid:i@x" width=40 height=30 alt="{text(1, 2)}" border=1><img src="http://img.canary.example/a.gif" width=80 height=30 alt="{text(1, 2)}">'
        if kind == 12:
            return f'<img src="http://img.canary.example/p.gif" alt="{text(1, 3)}"><img src=data:image/png;base64,{PIXEL} width=20 height=20>'
        if kind == 13:
            return f'<a href="http://www.canary.example/?a=1&amp;b=2">{text(1, 4)}</a> <a href="mailto:a@b.c" style="color:green">{text(1, 2)}</a> <a href=javascript:void(0)>{text(1, 2)}</a>'
        if kind == 14:
            return f'<font face="Times New Roman" size=+{numbers.randint(1, 3)} color=navy>{text()}<o:p>&nbsp;</o:p></font><center>{text(1, 3)}</center>'
        if kind == 15:
            return f'<blockquote type=cite style="border-left:2px #00f solid;margin-left:5px">{text()}<br>{text()}</blockquote><pre>  {text()}\n\t{text()}</pre>'
        if kind == 16:
            return f"<!--[if mso]><table><tr><td>{text()}</td></tr></table><![endif]--><![if !mso]><span>{text()}</span><![endif]>"
        if kind == 17:
            return f"<form action=http://www.canary.example/><input value='{text(1, 2)}'> <input type=submit value=ok><select><option>{text(1, 1)}<option selected>b</select><textarea rows=2>{text()}\n&lt;x&gt;</textarea></form>"
        if kind == 18:
            return f"<div style='display:none;font-size:0;max-height:0;overflow:hidden'>{text()}</div><span style=\"display:inline-block;background-color:#5{numbers.randrange(10)}9;color:#fff;padding:6px 18px;border-radius:4px\">{text(1, 2)}</span>"
        if kind == 19:
            return f"<noscript>{text()}</noscript><script>document.write('x')</script><custom-tag style='color:teal'>{text()}</custom-tag><unknown style='background:#def'>{text()}</unknown>"
        if kind == 20:
            return f"<dl><dt>{text(1, 2)}<dd>{text()}</dl><details open><summary>{text(1, 2)}</summary>{text()}</details><q>{text()}</q> a < b & c &copy; &hellip; x&sup2;"
        return f"{text()}<br clear=all>{text()} <s>{text(1, 2)}</s><sup>2</sup><code>{text(1, 2)}</code>"

    sheet = "".join(f"<style type='text/css'>{numbers.choice(SHEETS)}</style>" for _ in range(numbers.randrange(3)))
    head = f'<head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"><title>{text(1, 3)}</title>{sheet}</head>'
    body = "\n".join(block() for _ in range(numbers.randint(3, 14)))
    attributes = numbers.choice(["", " bgcolor=#ffffff text=#333366 link=#990000", " style='margin:20px;background:#fafaf0'", " leftmargin=0 topmargin=0"])
    html = numbers.choice(DOCTYPES) + f"\n<html>{head}<body{attributes}>{body}</body></html>"
    if numbers.randrange(4) == 0:
        html = body
    return f"""From: a@b.c
Subject: letter
MIME-Version: 1.0
Content-Type: multipart/related; boundary=rrr

--rrr
Content-Type: text/html; charset=utf-8

{html}
--rrr
Content-Type: image/png; name="a picture.png"
Content-ID: <i@x>
Content-Transfer-Encoding: base64

{PIXEL}
--rrr--
""".encode()
