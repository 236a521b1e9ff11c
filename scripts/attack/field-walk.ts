import type { Field, FieldType, StructType } from '../../src/machinery/type-model.js';

/** A list or map inside a kind: its name, the path to it, and its type. */
export interface Container {
  /** `spec.containers[].env` */
  readonly title: string;
  readonly steps: readonly (string | 0)[];
  readonly field: Field;
  readonly form: 'list' | 'map';
  readonly of: FieldType;
  /** The struct that declares the field. */
  readonly holder: string;
}

const depthMax = 12;

/** Returns every list and map of a kind; recursive structs are entered once. */
export function containersOf(struct: StructType): Container[] {
  const found: Container[] = [];
  const enter = (type: StructType, title: string, steps: readonly (string | 0)[], above: readonly string[]) => {
    if (steps.length > depthMax || above.includes(type.name)) return;
    const inside = [...above, type.name];
    for (const field of fieldsOf(type)) {
      const at = { title: title === '' ? field.name : `${title}.${field.name}`, steps: [...steps, field.name] };
      const { type: of } = field;
      if (of.form === 'struct') enter(of, at.title, at.steps, inside);
      if (of.form !== 'list' && of.form !== 'map') continue;
      found.push({ ...at, field, form: of.form, of: of.of, holder: type.name });
      if (of.of.form === 'struct' && of.form === 'list') enter(of.of, `${at.title}[]`, [...at.steps, 0], inside);
      if (of.of.form === 'struct' && of.form === 'map') enter(of.of, `${at.title}.key`, [...at.steps, 'key'], inside);
    }
  };
  enter(struct, '', [], []);
  return found;
}

/** The fields in JSON, including those of inlined structs. */
export const fieldsOf = (struct: StructType): readonly Field[] => [...struct.byName.values()];
