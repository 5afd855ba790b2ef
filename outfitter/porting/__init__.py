"""Other tools' files as an `.agents` tree, and back.

One module a tool, one translation for use in place and for import.
"""
