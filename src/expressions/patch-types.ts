import { declare, overload, type TypeProvider } from '../cel/check/declarations.js';
import { unescapeName } from '../cel/declared/escaping.js';
import type { Library } from '../cel/libraries/library.js';
import { structType, types } from '../cel/types.js';
import { MapValue, type Value } from '../cel/values/value.js';
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

/** An `Object`, one of its structs, or a JSONPatch: the fields that the expression has set. */
class PatchValue extends MapValue {
  constructor(private readonly fields: ReadonlyMap<string, Value>) {
    super();
  }
  override get size(): number {
    return this.fields.size;
  }
  override keys(): Iterable<Value> {
    return this.fields.keys();
  }
  override find(key: Value): Value | undefined {
    return this.fields.get(key as string);
  }
}

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
  create(_struct, fields) {
    return new PatchValue(new Map([...fields].map(([name, value]) => [unescapeName(name) ?? name, value])));
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
