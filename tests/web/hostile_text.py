"""Names and notes that try to become markup, script, or another text than they are."""

IMAGE = "<img src=x onerror=\"alert('image')\">"
SCRIPT = "</script><script>alert('script')</script>"
# 128 bytes: 64 letters of two bytes each, written from right to left.
RIGHT_TO_LEFT = "שלום" * 16
LINES = "first line\nsecond\tline\r\x1b[31mred\x07"
OVERRIDE = "invoice\u202egnp.exe\u2066\u200b"
QUOTES = "\"'`<!--&lt;${alert(1)}"

# What the escaping of the page makes of them (the same as the command's, cli/printable.cpp).
SHOWN = {
    IMAGE: IMAGE,
    SCRIPT: SCRIPT,
    RIGHT_TO_LEFT: RIGHT_TO_LEFT,
    LINES: "first line\\nsecond\\tline\\x0d\\x1b[31mred\\x07",
    OVERRIDE: "invoice\\u{202e}gnp.exe\\u{2066}\\u{200b}",
    QUOTES: QUOTES,
}

# A lock each, of type TYPE; RIGHT_TO_LEFT holds them; notes and reasons are SCRIPT.
TYPE = "hostile <b>type</b>"
SOURCES = [IMAGE, SCRIPT, LINES, OVERRIDE, QUOTES]
