import type { AdmissionAttributes, AdmissionPlugin } from './admission-plugin.js';

/** The plug-ins that are on, in order. A plug-in without one of the two steps costs nothing in it. */
export class AdmissionChain {
  private readonly admitting: AdmissionPlugin[];
  private readonly validating: AdmissionPlugin[];

  constructor(readonly plugins: readonly AdmissionPlugin[]) {
    this.admitting = plugins.filter((plugin) => plugin.admit);
    this.validating = plugins.filter((plugin) => plugin.validate);
  }

  async admit(attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.admitting) await plugin.admit!(attributes);
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    for (const plugin of this.validating) await plugin.validate!(attributes);
  }
}
