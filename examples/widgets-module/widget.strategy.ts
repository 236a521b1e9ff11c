import {
  asFields,
  asNumber,
  fieldError,
  fillIn,
  makeFields,
  nameIsDnsSubdomain,
  type FieldError,
  type KubeObject,
  type Strategy,
} from 'keelson';

export const sizes = ['small', 'medium', 'large'];
export const shineMax = 10;

/** Hooks of each write, in their fixed order: default → prepare → validate. */
export const widgetStrategy: Strategy = {
  validateName: nameIsDnsSubdomain,
  countsGenerations: true,
  default(widget) {
    const spec = makeFields(widget, 'spec');
    fillIn(spec, 'size', 'medium');
    fillIn(spec, 'replicas', 1);
  },
  initialStatus: () => ({ shine: 0, replicas: 0 }),
  validateCreate: validateSpec,
  validateUpdate(widget, old) {
    const { color } = asFields(widget['spec']);
    const isRepainted = color !== asFields(old['spec'])['color'];
    return [
      ...validateSpec(widget),
      ...(isRepainted ? [fieldError.forbidden('spec.color', 'a widget keeps its color')] : []),
    ];
  },
  warnings: (widget) =>
    asFields(widget['spec'])['size'] === 'large' ? ['spec.size: large widgets may not fit through the door'] : [],
};

function validateSpec(widget: KubeObject): FieldError[] {
  const { color, size, replicas } = asFields(widget['spec']);
  const errors: FieldError[] = [];
  if (color === undefined || color === '') errors.push(fieldError.required('spec.color'));
  else if (typeof color !== 'string') errors.push(fieldError.invalid('spec.color', color, 'must be a string'));
  if (!sizes.includes(size as string)) errors.push(fieldError.notSupported('spec.size', size, sizes));
  if (!Number.isInteger(replicas) || asNumber(replicas) < 0)
    errors.push(fieldError.invalid('spec.replicas', replicas, 'must be a whole number that is not negative'));
  return errors;
}

export function validateStatus(widget: KubeObject): FieldError[] {
  const { shine } = asFields(widget['status']);
  if (Number.isInteger(shine) && asNumber(shine) >= 0 && asNumber(shine) <= shineMax) return [];
  return [fieldError.invalid('status.shine', shine, `must be a whole number from 0 to ${shineMax}`)];
}
