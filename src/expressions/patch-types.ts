import { declare, overload, type TypeProvider } from '../cel/check/declarations.js';
import type { Library } from '../cel/libraries/library.js';
import { structType, types } from '../cel/types.js';
import { spendOnText } from '../cel/work.js';

/** The results of mutations: `Object{spec: Object.spec{…}}` and `JSONPatch{op: 'add', …}`. */
export const objectType = structType('Object');
export const jsonPatchType = structType('JSONPatch');

const jsonPatchFields = new Map([
  ['op', types.string],
  ['path', types.string],
  ['from', types.string],
  ['value', types.dyn],
]);

/** Any path of fields is a struct with any fields (`Object.spec.template`). */
export const patchTypes: TypeProvider = {
  findStruct(name) {
    if (name === jsonPatchType.name) return jsonPatchType;
    return name === objectType.name || name.startsWith(`${objectType.name}.`) ? structType(name) : undefined;
  },
  findField(struct, field) {
    // Unknown fields of a JSONPatch have a type without a name, to which no value can be assigned.
    return struct === jsonPatchType.name ? (jsonPatchFields.get(field) ?? types.unspecified) : types.dyn;
  },
};

/** `jsonpatch.escapeKey` for keys in paths: `a/b~c` becomes `a~1b~0c`. */
export const patchLibrary: Library = {
  name: 'kubernetes.jsonpatch',
  functions: [
    declare(
      'jsonpatch.escapeKey',
      overload('string_jsonpatch_escapeKey_string', [types.string], types.string, (key) => {
        spendOnText(key as string, 1);
        return (key as string).replace(/[~/]/g, (character) => (character === '~' ? '~0' : '~1'));
      }),
    ),
  ],
};
