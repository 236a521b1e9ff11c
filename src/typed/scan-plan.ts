import { type FieldPlan, type Form, type StructPlan, type TypePlan } from './type-plan.js';

/** Types compiled for FieldScan, from those for fits(). */

/** Numbers, so that a switch is a jump. */
export const scanForms = {
  text: 0,
  struct: 1,
  list: 2,
  map: 3,
  bool: 4,
  int32: 5,
  int64: 6,
  intOrString: 7,
  time: 8,
  quantity: 9,
  microTime: 10,
  any: 11,
  unknown: 12,
} as const;

type ScanForm = (typeof scanForms)[keyof typeof scanForms];

/** Values of other forms are left to fits(). */
const formOf: Readonly<Partial<Record<Form, ScanForm>>> = {
  string: scanForms.text,
  bytes: scanForms.text,
  struct: scanForms.struct,
  list: scanForms.list,
  map: scanForms.map,
  bool: scanForms.bool,
  int32: scanForms.int32,
  int64: scanForms.int64,
  intOrString: scanForms.intOrString,
  time: scanForms.time,
  quantity: scanForms.quantity,
  microTime: scanForms.microTime,
  fieldsV1: scanForms.any,
  rawExtension: scanForms.any,
  json: scanForms.any,
};

/** The values that a scan notes the positions of, as a tree of field names. A leaf or a node has its number. */
export interface WantedFields {
  readonly number: number;
  readonly fields: Map<string, WantedFields>;
}

export class ScanType {
  readonly form: ScanForm;
  readonly of: ScanType | undefined;
  private compiled: ScanStruct | undefined = undefined;

  constructor(
    private readonly plan: TypePlan,
    private readonly wanted?: WantedFields,
  ) {
    this.form = formOf[plan.form] ?? scanForms.unknown;
    this.of = plan.of && new ScanType(plan.of);
  }

  /** Compiled on first use. */
  get struct(): ScanStruct {
    return (this.compiled ??= this.wanted ? new ScanStruct(this.plan.struct, this.wanted) : structOf(this.plan.struct));
  }
}

export class ScanField {
  /** `"name":` */
  readonly key: Buffer;
  readonly type: ScanType;
  /** True if null is what an absent field would be. Nothing is noted of null. */
  readonly mayBeNull: boolean;
  /** The number of the value among those that are noted, or -1. */
  readonly number: number;
  /** The fields that came after this one in the last objects: most objects have the same fields in the same order. */
  next: ScanField | undefined = undefined;
  nextBefore: ScanField | undefined = undefined;

  constructor(name: string, plan: FieldPlan | undefined, wanted: WantedFields | undefined) {
    this.key = Buffer.from(`"${name}":`);
    this.type = plan ? new ScanType(plan.type, wanted) : noType;
    this.mayBeNull = wanted === undefined && plan?.absent() === null;
    this.number = wanted?.number ?? -1;
  }
}

const noType = { form: scanForms.unknown } as ScanType;

export class ScanStruct {
  /** Stands for the position before the first field. */
  readonly start = new ScanField('', undefined, undefined);
  private readonly fields = new Map<string, ScanField>();

  constructor(plan: StructPlan, wanted?: WantedFields) {
    for (const [name, field] of plan.fields) {
      this.fields.set(name, new ScanField(name, field, wanted?.fields.get(name)));
    }
  }

  field(name: string): ScanField | undefined {
    return this.fields.get(name);
  }
}

const structs = new WeakMap<StructPlan, ScanStruct>();

function structOf(plan: StructPlan): ScanStruct {
  let struct = structs.get(plan);
  if (!struct) structs.set(plan, (struct = new ScanStruct(plan)));
  return struct;
}
