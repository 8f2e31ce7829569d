#!/usr/bin/env python3
"""make_encrypted_doc.py FOLDER PASSWORD: letter.doc and table.xls by LibreOffice, encrypted with a password. Needs its Python module."""
import os
import subprocess
import sys
import tempfile
import time

import uno
from com.sun.star.beans import PropertyValue

folder, password = sys.argv[1:]


def properties(**values):
    return tuple(PropertyValue(Name=name, Value=value) for name, value in values.items())


with tempfile.TemporaryDirectory() as profile:
    pipe = f"make-encrypted-{os.getpid()}"
    office = subprocess.Popen(
        ["soffice", f"-env:UserInstallation=file://{profile}", "--headless", "--norestore", f"--accept=pipe,name={pipe};urp;"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        local = uno.getComponentContext()
        resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
        for _ in range(600):
            try:
                context = resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
                break
            except Exception:
                time.sleep(0.1)
        desktop = context.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", context)
        for kind, name, form in (("swriter", "letter.doc", "MS Word 97"), ("scalc", "table.xls", "MS Excel 97")):
            document = desktop.loadComponentFromURL(f"private:factory/{kind}", "_blank", 0, properties(Hidden=True))
            if kind == "swriter":
                document.Text.String = "Dear Anna, herring 4711"
            else:
                document.Sheets.getByIndex(0).getCellByPosition(0, 0).String = "Dear Anna, herring 4711"
            document.storeToURL(f"file://{folder}/{name}", properties(FilterName=form, Password=password))
            document.close(True)
        try:
            desktop.terminate()
        except Exception:
            pass
        office.wait(60)
    finally:
        office.kill()
