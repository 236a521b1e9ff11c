import ts from 'typescript';

const runners = new Set(['it', 'test']);
const groups = new Set(['describe', 'describeWithEtcd']);

/**
 * Returns titles that occur twice in one file under the same describe blocks, as `line: title`. Templates of it.each()
 * and template literals count by their text.
 */
export function duplicateTitles(source: string): string[] {
  const file = ts.createSourceFile('spec.ts', source, ts.ScriptTarget.Latest, true);
  const seen = new Set<string>();
  const found: string[] = [];
  const visit = (node: ts.Node, path: string): void => {
    let inner = path;
    const call = ts.isCallExpression(node) ? titledCall(node, file) : undefined;
    if (call && groups.has(call.runner)) inner = `${path} > ${call.title}`;
    else if (call && runners.has(call.runner)) {
      const title = `${path} > ${call.title}`;
      if (seen.has(title)) {
        found.push(`${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}: ${title.slice(3)}`);
      }
      seen.add(title);
    }
    ts.forEachChild(node, (child) => visit(child, inner));
  };
  visit(file, '');
  return found;
}

/** The runner and the title of `it('title', …)`, `it.only('title', …)` or `it.each(rows)('title', …)`. */
function titledCall(
  call: ts.CallExpression,
  file: ts.SourceFile,
): { readonly runner: string; readonly title: string } | undefined {
  const [first] = call.arguments;
  if (!first || !(ts.isStringLiteralLike(first) || ts.isTemplateExpression(first))) return undefined;
  let callee: ts.Expression = call.expression;
  while (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee)) callee = callee.expression;
  if (!ts.isIdentifier(callee)) return undefined;
  const title = ts.isStringLiteralLike(first) ? first.text : first.getText(file).slice(1, -1);
  return { runner: callee.text, title };
}
