import { goList, goStruct, type GoStruct } from '../../machinery/go-value.js';

const one = (fields: GoStruct) => (value: unknown) => goStruct(value, fields);
const capitalized = (fields: readonly string[]): GoStruct => fields.map((field) => [field, null]);

const common: GoStruct = [
  ['deviceClassName', ''],
  ['selectors', null],
  ['allocationMode', ''],
  ['count', 0],
];
const exactRequest: GoStruct = [...common, ['adminAccess', null], ['tolerations', null], ['capacity', null]];
const alternative: GoStruct = [['name', ''], ...common, ['tolerations', null], ['capacity', null]];
const request: GoStruct = [
  ['name', ''],
  ['exactly', null, one(exactRequest)],
  ['firstAvailable', null, goList(alternative)],
];
const devices: GoStruct = [
  ['requests', null, goList(request)],
  ['constraints', null, goList(capitalized(['requests', 'matchAttribute', 'distinctAttribute']))],
  ['config', null],
];

/** Returns a claim spec as error messages of immutable fields show it: with the names of the Go fields. */
export const shownClaimSpec = (spec: unknown): unknown =>
  goStruct(spec, [['devices', goStruct({}, devices), one(devices)]]);
