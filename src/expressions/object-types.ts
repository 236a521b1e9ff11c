import type { TypeProvider } from '../cel/check/declarations.js';
import { DeclaredTypes } from '../cel/declared/declared-types.js';
import { unescapeName } from '../cel/declared/escaping.js';
import { schemaType, type Schema } from '../cel/declared/schema-type.js';
import { listOf, mapOf, structType, types, type CelType } from '../cel/types.js';
import type { FieldType, ScalarType, StructType, ValueName } from '../machinery/type-model.js';
import { scalar } from './declared-types.js';

const scalarTypes: Readonly<Record<ScalarType['scalar'], CelType>> = {
  string: types.string,
  bytes: types.bytes,
  bool: types.bool,
  int32: types.int,
  int64: types.int,
  float64: types.double,
};

const valueTypes: Readonly<Record<ValueName, CelType>> = {
  time: types.timestamp,
  microTime: types.timestamp,
  duration: types.string,
  quantity: types.string,
  intOrString: types.dyn,
  fieldsV1: types.dyn,
  rawExtension: types.dyn,
  json: types.dyn,
  schemaOrBool: types.dyn,
  schemaOrArray: types.dyn,
  schemaOrStrings: types.dyn,
};

/** The types of objects for checks of expressions, by the fields of built-in kinds and the schemas of custom ones. */
export class ObjectTypes implements TypeProvider {
  private readonly structs = new Map<string, StructType>();
  private readonly custom = new Map<string, TypeProvider>();

  ofStruct(struct: StructType): CelType {
    this.structs.set(struct.name, struct);
    return structType(struct.name);
  }

  /** Returns the type of a custom kind; undefined if its schema has none. */
  ofSchema({ properties, ...schema }: Schema, kind: string, metadata: StructType): CelType | undefined {
    // Kinds of two groups may have one name.
    const name = `${kind}${this.custom.size}`;
    const { metadata: _metadata, ...own } = properties ?? {};
    const text: Schema = { type: 'string' };
    const declared = schemaType({ ...schema, properties: { ...own, kind: text, apiVersion: text } }, name);
    if (!declared?.fields) return undefined;
    const fields = new Map([...declared.fields, ['metadata', scalar(this.ofStruct(metadata))] as const]);
    this.custom.set(name, new DeclaredTypes(new Map([[name, { ...declared, fields }]]), undefined));
    return declared.type;
  }

  findStruct(name: string): CelType | undefined {
    return this.structs.has(name) ? structType(name) : this.customOf(name)?.findStruct(name);
  }

  findField(struct: string, field: string): CelType | undefined {
    const fields = this.structs.get(struct)?.byName;
    if (!fields) return this.customOf(struct)?.findField(struct, field);
    const found = fields.get(field) ?? fields.get(unescapeName(field) ?? field);
    return found && this.typeOf(found.type);
  }

  /** Structs of a custom kind have its name before theirs: `Widget.spec`. */
  private customOf(struct: string): TypeProvider | undefined {
    const dot = struct.indexOf('.');
    return this.custom.get(dot < 0 ? struct : struct.slice(0, dot));
  }

  private typeOf(type: FieldType): CelType {
    switch (type.form) {
      case 'scalar':
        return scalarTypes[type.scalar];
      case 'value':
        return valueTypes[type.value];
      case 'list':
        return listOf(this.typeOf(type.of));
      case 'map':
        return mapOf(types.string, this.typeOf(type.of));
      case 'struct':
        return this.ofStruct(type);
    }
  }
}
