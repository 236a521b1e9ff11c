import { posix } from 'node:path';
import ts from 'typescript';

/** Imports of a file by module specifier: names, or `all` for namespace imports, `export *` and unclear dynamic imports. */
type Imports = Map<string, Set<string> | 'all'>;

interface Module {
  readonly imports: Imports;
  /** Exported names with the line of each. */
  readonly exports: ReadonlyMap<string, number>;
}

/**
 * Returns the exports that no other file imports, as `path:line: …`. `sources` are the files by path; `isChecked` is false
 * for those whose exports are for programs outside of the repository.
 */
export function unusedExports(sources: ReadonlyMap<string, string>, isChecked: (path: string) => boolean): string[] {
  const modules = new Map([...sources].map(([path, source]) => [path, moduleOf(path, source)]));
  const used = new Map<string, Set<string> | 'all'>();
  for (const [path, { imports }] of modules) {
    for (const [specifier, names] of imports) {
      const target = resolved(path, specifier, modules);
      if (target !== undefined) used.set(target, joined(used.get(target), names));
    }
  }
  return [...modules].flatMap(([path, { exports }]) => {
    const names = used.get(path) ?? new Set();
    if (names === 'all' || !isChecked(path)) return [];
    return [...exports]
      .filter(([name]) => !names.has(name))
      .map(
        ([name, line]) => `${path}:${line}: no other file imports ${name}; remove it, or "export" if this file uses it`,
      );
  });
}

function resolved(from: string, specifier: string, modules: ReadonlyMap<string, unknown>): string | undefined {
  if (specifier === 'keelson') return 'src/index.ts';
  if (specifier.startsWith('keelson/')) return `src/${specifier.slice('keelson/'.length)}.ts`;
  if (specifier === 'keelson/client') return 'src/client.ts';
  if (!specifier.startsWith('.')) return undefined;
  const path = posix.join(posix.dirname(from), specifier);
  return [path, path.replace(/\.js$/, '.ts'), path.replace(/\.mjs$/, '.mts')].find((name) => modules.has(name));
}

function joined(one: Set<string> | 'all' | undefined, other: Set<string> | 'all'): Set<string> | 'all' {
  return one === 'all' || other === 'all' ? 'all' : new Set([...(one ?? []), ...other]);
}

function moduleOf(path: string, source: string): Module {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const imports: Imports = new Map();
  const exports = new Map<string, number>();
  const use = (specifier: ts.Node | undefined, names: readonly string[] | 'all') => {
    if (!specifier || !ts.isStringLiteralLike(specifier)) return;
    imports.set(specifier.text, joined(imports.get(specifier.text), names === 'all' ? 'all' : new Set(names)));
  };
  const add = (name: string, node: ts.Node) =>
    exports.set(name, file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1);
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement)) use(statement.moduleSpecifier, importedNames(statement));
    else if (ts.isExportDeclaration(statement)) {
      const { exportClause: clause, moduleSpecifier } = statement;
      if (clause && ts.isNamedExports(clause)) {
        for (const element of clause.elements) add(element.name.text, element);
        use(moduleSpecifier, clause.elements.map(originalName));
      } else use(moduleSpecifier, 'all');
    } else if (ts.isExportAssignment(statement)) add('default', statement);
    else if (isExported(statement)) for (const name of declaredNames(statement)) add(name, statement);
  }
  visitDynamicImports(file, use);
  return { imports, exports };
}

const originalName = ({ propertyName, name }: ts.ImportSpecifier | ts.ExportSpecifier) => (propertyName ?? name).text;

function importedNames({ importClause }: ts.ImportDeclaration): readonly string[] | 'all' {
  const bindings = importClause?.namedBindings;
  if (bindings && ts.isNamespaceImport(bindings)) return 'all';
  return [...(importClause?.name ? ['default'] : []), ...(bindings?.elements.map(originalName) ?? [])];
}

function isExported(statement: ts.Statement): boolean {
  return (
    ts.canHaveModifiers(statement) &&
    (ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false)
  );
}

function declaredNames(statement: ts.Statement): string[] {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) => namesIn(name));
  }
  const { name } = statement as ts.Statement & { readonly name?: ts.Identifier };
  return [name?.text ?? 'default'];
}

function namesIn(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? namesIn(element.name) : []));
}

/** Finds `import('…')` in expressions and types: `const { a } = await import('…')` and `import('…').A` use one name. */
function visitDynamicImports(
  file: ts.SourceFile,
  use: (specifier: ts.Node | undefined, names: readonly string[] | 'all') => void,
): void {
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      use(node.arguments[0], namesOfImport(node));
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      use(node.argument.literal, node.qualifier ? [node.qualifier.getText(file).split('.')[0]!] : 'all');
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
}

function namesOfImport(call: ts.CallExpression): readonly string[] | 'all' {
  let value: ts.Node = call;
  while (ts.isAwaitExpression(value.parent) || ts.isParenthesizedExpression(value.parent)) value = value.parent;
  const { parent } = value;
  if (ts.isPropertyAccessExpression(parent) && parent.expression === value) return [parent.name.text];
  if (!ts.isVariableDeclaration(parent) || !ts.isObjectBindingPattern(parent.name)) return 'all';
  return parent.name.elements.map(({ propertyName, name }) => (propertyName ?? name).getText());
}
