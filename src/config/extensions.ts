interface Named {
  readonly name: string;
}

/** Definitions that a program adds when it embeds the server. Flags accept their names beside the built-in ones. */
export interface Extensions {
  readonly admissionPlugins?: readonly Named[] | undefined;
  readonly reconcilers?: readonly Named[] | undefined;
  readonly storageBackends?: readonly Named[] | undefined;
}
