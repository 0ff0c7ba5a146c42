"""What torchgen's classes of structured kernels have in common, out of them: most of what is compiled of registrations.

torchgen makes a class for each function, derived from its kernel's. All of them prepare outputs with the same few texts,
inlined into two functions of each class. Here those texts become functions that all classes of a source call.
"""

from __future__ import annotations

import re

_class = re.compile(r"^struct (\w+) final : public [\w:]+ \{\n(.*?)^\};\n", re.MULTILINE | re.DOTALL)
# What comes before the call of the kernel's own function.
_preparation = re.compile(
    r"(void set_output_(?:raw_)?strided\(([^()]*)\) override \{\n)(.*?)(?=\n *// super must happen after)", re.DOTALL
)
_member = re.compile(r"^ *([\w:]+(?:<.*>)?) (\w+_);$", re.MULTILINE)


def share(text: str) -> str:
    """Classes with the functions that they call before them. It takes the text after torchgen's helpers."""
    functions: dict[str, str] = {}

    def shorten(found: re.Match[str]) -> str:
        name, body = found.groups()
        members = _member.findall(body)

        def call(method: re.Match[str]) -> str:
            head, parameters, preparation = method.groups()
            used = [(kind, member) for kind, member in members if re.search(rf"\b{member}\b", preparation)]
            taken = ", ".join([*(f"{kind}& {member}" for kind, member in used), " ".join(parameters.split())])
            function = functions.setdefault(f"({taken}) {{\n{preparation}\n}}\n", f"prepare_output_{len(functions)}")
            passed = [*(member for _, member in used), *re.findall(r"(\w+)(?:,|$)", " ".join(parameters.split()))]
            return f"{head}        {function}({', '.join(passed)});"

        # Declared, or else inlined into its caller and what deletes an object, which nobody does.
        destructor = f"    [[gnu::noinline]] ~{name}() override {{}}\n"
        return found[0].replace(body, destructor + _preparation.sub(call, body), 1)

    classes = _class.sub(shorten, text)
    return "".join(f"[[gnu::noinline]] void {name}{rest}" for rest, name in functions.items()) + classes
