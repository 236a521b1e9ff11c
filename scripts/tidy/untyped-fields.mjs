import ts from 'typescript';

// The ESLint rule `untyped-fields`: fields of built-in objects are read through their types in src/catalog/types.

/** Folders and files whose objects have no type, each with the reason. */
export const untypedRooms = [
  { path: 'src/codec/', reason: 'encodes and decodes objects of all kinds' },
  { path: 'src/typed/', reason: 'gives objects their type, so it gets them without one' },
  { path: 'src/patch/', reason: 'patches objects of all kinds' },
  { path: 'src/structural-schema/', reason: 'schemas of custom kinds, and their objects' },
  { path: 'src/custom-kinds/', reason: 'custom kinds, whose fields are known at run time' },
  { path: 'src/openapi/custom-schemas.ts', reason: 'schemas of custom kinds' },
  { path: 'src/kubeconfig-client/', reason: 'discovery documents and manifests, whose fields are of any type' },
  { path: 'src/testing/', reason: 'fixtures, which are objects of all kinds' },
  { path: 'src/history/', reason: 'answers of other servers and files, whose fields are of any type' },
  { path: 'src/explain/', reason: 'answers of other servers, whose fields are of any type' },
  { path: 'src/remote-streams/', reason: 'answers of other servers, whose fields are of any type' },
  { path: 'src/aggregation/', reason: 'documents of other servers, whose fields are of any type' },
  { path: 'src/config/', reason: 'configuration files, whose fields are of any type until they are checked' },
];

/** Functions of src/machinery/fields.ts that read or write fields by name, and the position of the first name. */
const accessors = new Map([
  ['valueAt', 1],
  ['makeFields', 1],
  ['fillIn', 1],
]);

const message =
  '`{{name}}` is a field of an object without a type. Name the type of the object where its kind is known: ' +
  '`const { spec }: Pod = object` (CONTRIBUTING.md, Typed objects).';

export const untypedFields = {
  meta: { type: 'problem', schema: [], messages: { untyped: message } },
  create(context) {
    const path = context.filename.replaceAll('\\', '/');
    if (isUntypedRoom(path)) return {};
    const { program, esTreeNodeToTSNodeMap } = context.sourceCode.parserServices;
    const checker = program.getTypeChecker();
    const check = (object, node, name) => {
      if (name === undefined) return;
      const type = checker.getTypeAtLocation(esTreeNodeToTSNodeMap.get(object));
      if (isUntypedField(checker, type, name)) context.report({ node, messageId: 'untyped', data: { name } });
    };
    return {
      MemberExpression: (node) => check(node.object, node.property, nameOf(node.property, node.computed)),
      ObjectPattern(node) {
        for (const property of node.properties) {
          if (property.type === 'Property') check(node, property, nameOf(property.key, property.computed));
        }
      },
      CallExpression(node) {
        const first = accessors.get(node.callee.name);
        const names = first === undefined ? [] : literalsIn(node.arguments[first]);
        if (names.length > 0) context.report({ node, messageId: 'untyped', data: { name: names.join('.') } });
      },
    };
  },
};

/** True for files without typed objects, and for specs, which build objects of any form. */
function isUntypedRoom(path) {
  return /\.(spec|e2e-spec)\.ts$/.test(path) || untypedRooms.some((room) => path.includes(`/${room.path}`));
}

/** True if only an index signature of `unknown` declares the field, as in Fields and KubeObject. */
function isUntypedField(checker, type, name) {
  const constituents = type.isUnion() ? type.types : [type];
  return constituents.some((constituent) => {
    const apparent = checker.getApparentType(constituent);
    if (checker.getPropertyOfType(apparent, name)) return false;
    const index = checker.getIndexInfoOfType(apparent, ts.IndexKind.String);
    return index !== undefined && (index.type.flags & ts.TypeFlags.Unknown) !== 0;
  });
}

/** The name of a field if the source has it literally: `a.name`, `a['name']`, `{ name }`. */
function nameOf(key, isComputed) {
  if (key.type === 'Identifier' && !isComputed) return key.name;
  return key.type === 'Literal' && typeof key.value === 'string' ? key.value : undefined;
}

function literalsIn(argument) {
  const values = argument?.type === 'ArrayExpression' ? argument.elements : [argument];
  return values.flatMap((value) => (value?.type === 'Literal' && typeof value.value === 'string' ? [value.value] : []));
}
