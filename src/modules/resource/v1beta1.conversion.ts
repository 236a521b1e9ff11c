import { asFields, asItems, isSet, type Fields } from '../../machinery/fields.js';
import type { KubeObject } from '../../machinery/kube-object.js';

/**
 * v1beta1 knew one kind of request and one kind of device, and later gave each a place of its own:
 *
 *   request: { name, deviceClassName, count, … }  →  { name, exactly: { deviceClassName, count, … } }
 *   device:  { name, basic: { attributes, … } }   →  { name, attributes, … }
 */
type Convert = (object: KubeObject) => KubeObject;

export const claimFromV1Beta1: Convert = (claim) => withRequests(claim, ['spec'], requestFromV1Beta1);
export const claimToV1Beta1: Convert = (claim) => withRequests(claim, ['spec'], requestToV1Beta1);
export const templateFromV1Beta1: Convert = (template) => withRequests(template, ['spec', 'spec'], requestFromV1Beta1);
export const templateToV1Beta1: Convert = (template) => withRequests(template, ['spec', 'spec'], requestToV1Beta1);
export const sliceFromV1Beta1: Convert = (slice) => withItems(slice, ['spec', 'devices'], deviceFromV1Beta1);
export const sliceToV1Beta1: Convert = (slice) => withItems(slice, ['spec', 'devices'], deviceToV1Beta1);

function withRequests(object: KubeObject, spec: readonly string[], change: (item: Fields) => Fields): KubeObject {
  return withItems(object, [...spec, 'devices', 'requests'], change);
}

/** The object with every item of a list changed. What is not there stays so. */
function withItems<T extends Fields>(
  object: T,
  [field, ...rest]: readonly string[],
  change: (item: Fields) => Fields,
): T {
  const inner = object[field!];
  if (!isSet(inner)) return object;
  const changed = rest.length > 0 ? withItems(asFields(inner), rest, change) : asItems(inner).map(change);
  return { ...object, [field!]: changed };
}

/** A request without alternatives is one for exactly this, whatever else it says. */
function requestFromV1Beta1({ name, firstAvailable, ...exactly }: Fields): Fields {
  const hasAlternatives = asItems(firstAvailable).length > 0;
  const isExact = !hasAlternatives || Object.values(exactly).some((value) => isSet(value) && value !== '');
  return { name, ...(isExact && { exactly }), ...(isSet(firstAvailable) && { firstAvailable }) };
}

function requestToV1Beta1({ name, exactly, firstAvailable }: Fields): Fields {
  return {
    name,
    // It is written even where there is nothing to say.
    deviceClassName: '',
    ...asFields(exactly),
    ...(isSet(firstAvailable) && { firstAvailable }),
  };
}

function deviceFromV1Beta1({ name, basic }: Fields): Fields {
  return { name, ...asFields(basic) };
}

function deviceToV1Beta1({ name, ...basic }: Fields): Fields {
  return { name, basic };
}
