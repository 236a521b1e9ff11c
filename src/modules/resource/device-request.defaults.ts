import { asFields, asItems, fillInZero, isSet, type Fields } from '../../machinery/fields.js';

/** One device, where nothing else is asked for. `spec` is a claim's, also inside a template. */
export function defaultClaimSpec(spec: Fields): void {
  for (const request of asItems(asFields(spec['devices'])['requests'])) {
    if (isSet(request['exactly'])) defaultRequest(asFields(request['exactly']));
    for (const alternative of asItems(request['firstAvailable'])) defaultRequest(alternative);
  }
}

function defaultRequest(request: Fields): void {
  fillInZero(request, 'allocationMode', 'ExactCount');
  if (request['allocationMode'] === 'ExactCount') fillInZero(request, 'count', 1);
  defaultTolerations(request['tolerations']);
}

export function defaultTolerations(tolerations: unknown): void {
  for (const toleration of asItems(tolerations)) fillInZero(toleration, 'operator', 'Equal');
}
