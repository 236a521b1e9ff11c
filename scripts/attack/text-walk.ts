import type { Field, FieldType, StructType } from '../../src/machinery/type-model.js';
import { fieldsOf } from './field-walk.js';
import type { Json, JsonObject } from './templates.js';

/** A text inside a kind: a field, an entry of a list, or a key or a value of a map. */
export interface TextField {
  /** `spec.containers[].env[].name`, `metadata.labels{key}` */
  readonly title: string;
  readonly steps: readonly (string | 0)[];
  /** `free` fields take any JSON, `bytes` are in base64. */
  readonly form: 'text' | 'bytes' | 'free' | 'key';
  readonly field: Field;
  /** The struct that declares the field. */
  readonly holder: string;
  /** A value for a key of a map that the template leaves empty. */
  readonly valueOfKey?: Json;
}

const depthMax = 14;
/** Wrappers of an object, whose other fields stay when a missing field is added. */
const wrappers: ReadonlySet<string | 0> = new Set(['spec', 'template', 'jobTemplate']);

/** Returns every text of a kind; recursive structs are entered once. */
export function textFieldsOf(struct: StructType): TextField[] {
  const found: TextField[] = [];
  const visit = (type: FieldType, at: Omit<TextField, 'form'>, above: readonly string[]): void => {
    if (at.steps.length > depthMax) return;
    switch (type.form) {
      case 'scalar':
        if (type.scalar === 'string') found.push({ ...at, form: 'text' });
        if (type.scalar === 'bytes') found.push({ ...at, form: 'bytes' });
        return;
      case 'value':
        if (type.value.startsWith('schemaOr')) return;
        found.push({ ...at, form: /fieldsV1|rawExtension|json/.test(type.value) ? 'free' : 'text' });
        return;
      case 'list':
        return visit(type.of, { ...at, title: `${at.title}[]`, steps: [...at.steps, 0] }, above);
      case 'map':
        found.push({ ...at, title: `${at.title}{key}`, form: 'key', valueOfKey: sampleOf(type.of) });
        return visit(type.of, { ...at, title: `${at.title}{}`, steps: [...at.steps, 'key'] }, above);
      case 'struct':
        return enter(type, at.title, at.steps, above);
    }
  };
  const enter = (type: StructType, title: string, steps: readonly (string | 0)[], above: readonly string[]) => {
    if (above.includes(type.name)) return;
    for (const field of fieldsOf(type)) {
      const at = { title: title === '' ? field.name : `${title}.${field.name}`, steps: [...steps, field.name] };
      visit(field.type, { ...at, field, holder: type.name }, [...above, type.name]);
    }
  };
  enter(struct, '', [], []);
  return found;
}

function sampleOf(type: FieldType): Json {
  if (type.form === 'struct' || type.form === 'map') return {};
  if (type.form === 'list') return [sampleOf(type.of)];
  return type.form === 'value' ? '1' : 'YQ==';
}

const hole = 'a-hole-to-fill';

/** Marks the place of the text in a copy of the object, for textIn(). Adds the objects that hold it. */
export function markedObject(object: JsonObject, { steps, form, valueOfKey = 'a' }: TextField): JsonObject {
  const marked = structuredClone(object);
  const inner = form === 'key' ? steps : steps.slice(0, -1);
  let at = marked;
  for (const [index, step] of inner.entries()) {
    const inside: Json | undefined = at[step];
    if (typeof inside !== 'object' || inside === null) {
      // Only one of the fields may be set if the holder is a union, such as a volume.
      if (index > 1 && !wrappers.has(inner[index - 1]!)) dropObjects(at);
      const next = steps[index + 1];
      at[step] = next === 0 ? [] : {};
    }
    at = at[step] as JsonObject;
  }
  if (form === 'key') at[hole] = Object.values(at)[0] ?? valueOfKey;
  else at[steps.at(-1)!] = hole;
  return marked;
}

function dropObjects(holder: JsonObject): void {
  for (const [name, value] of Object.entries(holder))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) delete holder[name];
}

/** Returns the JSON text of a marked value with `json`, a JSON string, in the marked place. */
export function textIn(marked: Json, json: string): string {
  return JSON.stringify(marked).split(`"${hole}"`).join(json);
}
