"""Tool calls: right only if every call is exactly right, with names, arguments and format told apart.

The target is a list of calls; `[]` means that no tool should be called (and something must be said instead):

    target = [{"name": "get_weather", "arguments": {"city": "Berlin", "days": 3}}]

Two further keys of a target call, for arguments with several right values and arguments that may be left out
although the tool's schema gives no default for them:

    {"name": "get_weather", "arguments": {"city": "Berlin", "days": 3},
     "accept": {"city": ["Berlin, DE"]},      # also right for `city`
     "optional": ["days"]}                    # right when absent, too

Tools come from `sample.tools`, or from metadata `tools` in the same form:
`{"name", "description", "parameters": {"type": "object", "properties": {…}, "required": […]}}`
(also wrapped as `{"type": "function", "function": {…}}`). An argument that the target does not name is right only
if it carries the schema's `default`; one that the target names with its default may be left out.
"""
