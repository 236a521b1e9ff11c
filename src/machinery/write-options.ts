import { ApiError } from './api-error.js';
import { fieldError, type FieldError } from './field-error.js';
import { fieldManagerLengthMax, validateFieldManager } from './names.js';
import { isTrueParameter, type Query } from './query.js';
import { dryRunOf, dryRunProblems, type OptionsContext } from './option-parameters.js';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface WriteOptions {
  readonly dryRun: boolean;
  /** '' if absent: derived from the user agent then. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /** False if fieldValidation is the default. */
  readonly hasFieldValidation: boolean;
}

type CreateOptions = WriteOptions;

type UpdateOptions = WriteOptions;

interface PatchOptions extends WriteOptions {
  readonly force: boolean;
}

export function parseCreateOptions(query: Query, context: OptionsContext): CreateOptions {
  return writeOptions(query, 'CreateOptions', context, []);
}

export function parseUpdateOptions(query: Query, context: OptionsContext): UpdateOptions {
  return writeOptions(query, 'UpdateOptions', context, []);
}

/** Server-side apply requires a field manager and may force; other patches may not. */
export function parsePatchOptions(query: Query, isApply: boolean, context: OptionsContext): PatchOptions {
  const errors: FieldError[] = [];
  if (!isApply && query.has('force')) {
    errors.push(fieldError.forbidden('force', 'may not be specified for non-apply patch'));
  }
  if (isApply && (query.first('fieldManager') ?? '') === '') {
    errors.push(fieldError.required('fieldManager', 'is required for apply patch'));
  }
  return writeOptions(query, 'PatchOptions', context, errors);
}

const noOptions: PatchOptions = {
  dryRun: false,
  fieldManager: '',
  fieldValidation: 'Warn',
  hasFieldValidation: false,
  force: false,
};

const fieldValidations: readonly string[] = ['Ignore', 'Strict', 'Warn'];

function writeOptions(query: Query, kind: string, context: OptionsContext, errors: FieldError[]): PatchOptions {
  if (query.raw === '' && errors.length === 0) return noOptions;
  const fieldManager = query.first('fieldManager') ?? '';
  const dryRun = dryRunOf(query);
  const fieldValidation = query.first('fieldValidation') ?? '';
  if (Buffer.byteLength(fieldManager) > fieldManagerLengthMax) {
    errors.push(fieldError.tooLong('fieldManager', fieldManagerLengthMax));
  }
  for (const problem of validateFieldManager(fieldManager)) {
    errors.push(fieldError.invalid('fieldManager', fieldManager, problem));
  }
  errors.push(...dryRunProblems(dryRun));
  if (fieldValidation !== '' && !fieldValidations.includes(fieldValidation)) {
    errors.push(fieldError.notSupported('fieldValidation', fieldValidation, ['', ...fieldValidations]));
  }
  if (errors.length > 0) throw ApiError.invalid({ group: context.metaGroup, kind }, '', errors);
  return {
    dryRun: dryRun.length > 0,
    fieldManager,
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
    hasFieldValidation: fieldValidation !== '',
    force: isTrueParameter(query.first('force')),
  };
}
