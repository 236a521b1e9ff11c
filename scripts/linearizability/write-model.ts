/** The fields of an object that the writers change. */
export interface Version {
  readonly revision: number;
  readonly uid: string;
  /** `mark` identifies the write of this version. */
  readonly data: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  readonly isDeleting: boolean;
}

/** The meaning of a request in any verb: every patch sets or removes fields. */
export type Intent =
  | { readonly verb: 'create' | 'replace'; readonly data: Version['data']; readonly finalizers: readonly string[] }
  | { readonly verb: 'apply'; readonly data: Version['data'] }
  | {
      readonly verb: 'merge';
      readonly data: Readonly<Record<string, string | null>>;
      readonly releases: boolean;
    }
  | { readonly verb: 'delete' };

export type Content = Pick<Version, 'data' | 'finalizers' | 'isDeleting'>;

/** The effect of an intent on a state: the next one, `gone`, or `refused` if it must not take effect. */
export function effectOf(intent: Intent, before: Content | undefined): Content | 'gone' | 'refused' {
  if (intent.verb === 'create') return before ? 'refused' : { ...contentOf(intent), isDeleting: false };
  if (!before) {
    return intent.verb === 'apply' ? { data: intent.data, finalizers: [], isDeleting: false } : 'refused';
  }
  if (intent.verb === 'delete') return before.finalizers.length === 0 ? 'gone' : { ...before, isDeleting: true };
  const { isDeleting } = before;
  const { data, finalizers } = changed(intent, before);
  if (isDeleting && finalizers.some((finalizer) => !before.finalizers.includes(finalizer))) return 'refused';
  return isDeleting && finalizers.length === 0 ? 'gone' : { data, finalizers, isDeleting };
}

function changed(intent: Exclude<Intent, { verb: 'delete' }>, before: Content): Omit<Content, 'isDeleting'> {
  if ('finalizers' in intent) return contentOf(intent);
  if (intent.verb === 'apply') return { data: { ...before.data, ...intent.data }, finalizers: before.finalizers };
  const data: Record<string, string> = { ...before.data };
  for (const [field, value] of Object.entries(intent.data)) {
    if (value === null) delete data[field];
    else data[field] = value;
  }
  return { data, finalizers: intent.releases ? [] : before.finalizers };
}

const contentOf = ({ data, finalizers }: Omit<Content, 'isDeleting'>) => ({ data, finalizers });
