import type {
  ExemptPriorityLevelConfiguration,
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  PriorityLevelConfigurationSpec,
  QueuingConfiguration,
} from '../../catalog/types/flowcontrol.v1.js';
import { deepEqual } from '../../machinery/deep-equal.js';
import { fieldError, path, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { between, oneOf, required } from '../../machinery/field-rules.js';
import { goStruct, type GoStruct } from '../../machinery/go-value.js';
import { mandatoryPriorityLevels } from './mandatory-objects.js';

/** The bits of a request's hash that choosing a hand of queues may use. */
const hashBitsMax = 60;
const queuesMax = 10_000_000;

export function validatePriorityLevel({ metadata, spec = {} }: PriorityLevelConfiguration): FieldError[] {
  const { name = '' } = metadata;
  const errors = validateSpec(spec, name, path('spec'));
  if (name === 'catch-all' && !deepEqual(spec, mandatoryPriorityLevels[name])) {
    errors.push(fieldError.invalid('spec', goStruct(spec, shownSpec), `spec of '${name}' must equal the fixed value`));
  }
  return errors;
}

const shownSpec: GoStruct = [
  ['type', ''],
  [
    'limited',
    null,
    (limited) =>
      goStruct(limited, [
        ['nominalConcurrencyShares', 0],
        [
          'limitResponse',
          { Type: '', Queuing: null },
          (response) =>
            goStruct(response, [
              ['type', ''],
              [
                'queuing',
                null,
                (queuing) =>
                  goStruct(queuing, [
                    ['queues', 0],
                    ['handSize', 0],
                    ['queueLengthLimit', 0],
                  ]),
              ],
            ]),
        ],
        ['lendablePercent', null],
        ['borrowingLimitPercent', null],
      ]),
  ],
  ['exempt', null],
];

function validateSpec(spec: PriorityLevelConfigurationSpec, name: string, at: FieldPath): FieldError[] {
  const { type = '', exempt, limited } = spec;
  const errors: FieldError[] = [];
  if ((name === 'exempt') !== (type === 'Exempt')) {
    const message = "must be 'Exempt' if and only if `name` is 'exempt'";
    errors.push(fieldError.invalid(at.child('type'), type, message));
  }
  switch (type) {
    case 'Exempt':
      if (limited) {
        errors.push(fieldError.forbidden(at.child('limited'), 'must be nil if the type is not Limited'));
      }
      return [...errors, ...validateShares(exempt ?? {}, at.child('exempt'))];
    case 'Limited':
      if (exempt) {
        errors.push(fieldError.forbidden(at.child('exempt'), 'must be nil if the type is Limited'));
      }
      if (!limited) {
        return [...errors, ...required(undefined, at.child('limited'), 'must not be empty when type is Limited')];
      }
      return [...errors, ...validateLimited(limited, at.child('limited'))];
    default:
      return [...errors, ...oneOf(type, at.child('type'), ['Exempt', 'Limited'])];
  }
}

function validateShares(
  of: ExemptPriorityLevelConfiguration | LimitedPriorityLevelConfiguration,
  at: FieldPath,
): FieldError[] {
  const shares = of.nominalConcurrencyShares ?? 0;
  return [
    ...(shares < 0
      ? [fieldError.invalid(at.child('nominalConcurrencyShares'), shares, 'must be a non-negative integer')]
      : []),
    ...between(of.lendablePercent, at.child('lendablePercent'), 0, 100),
  ];
}

function validateLimited(limited: LimitedPriorityLevelConfiguration, at: FieldPath): FieldError[] {
  const borrowing = limited.borrowingLimitPercent ?? 0;
  return [
    ...validateShares(limited, at),
    ...validateResponse(limited.limitResponse ?? {}, at.child('limitResponse')),
    ...(borrowing < 0
      ? [
          fieldError.invalid(
            at.child('borrowingLimitPercent'),
            borrowing,
            'if specified, must be a non-negative integer',
          ),
        ]
      : []),
  ];
}

function validateResponse({ type = '', queuing }: LimitResponse, at: FieldPath): FieldError[] {
  const where = at.child('queuing');
  switch (type) {
    case 'Reject':
      if (!queuing) return [];
      return [fieldError.forbidden(where, 'must be nil if limited.limitResponse.type is not Limited')];
    case 'Queue':
      if (queuing) return validateQueuing(queuing, where);
      return required(undefined, where, 'must not be empty if limited.limitResponse.type is Limited');
    default:
      return oneOf(type, at.child('type'), ['Queue', 'Reject']);
  }
}

function validateQueuing(queuing: QueuingConfiguration, at: FieldPath): FieldError[] {
  const { queues = 0, handSize = 0, queueLengthLimit = 0 } = queuing;
  const invalid = (field: keyof QueuingConfiguration, value: number, message: string) =>
    fieldError.invalid(at.child(field), value, message);
  const errors: FieldError[] = [];
  if (queues <= 0) errors.push(invalid('queues', queues, 'must be positive'));
  if (queues > queuesMax) errors.push(invalid('queues', queues, `must not be greater than ${queuesMax}`));
  if (handSize <= 0) errors.push(invalid('handSize', handSize, 'must be positive'));
  if (queueLengthLimit <= 0) errors.push(invalid('queueLengthLimit', queueLengthLimit, 'must be positive'));
  if (handSize > queues) errors.push(invalid('handSize', handSize, `should not be greater than queues (${queues})`));
  if (Math.ceil(Math.log2(queues) * handSize) > hashBitsMax) {
    const bits = `required entropy bits of deckSize ${queues} and handSize ${handSize}`;
    errors.push(invalid('handSize', handSize, `${bits} should not be greater than ${hashBitsMax}`));
  }
  return errors;
}
