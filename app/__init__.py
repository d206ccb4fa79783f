"""The doors: command line, Streamlit, exports. They parse, call and print; no arithmetic."""
