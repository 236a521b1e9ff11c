import { Module } from '@nestjs/common';
import { AdmissionregistrationGroup } from './admissionregistration.group.js';

@Module({
  providers: [{ provide: AdmissionregistrationGroup, useFactory: () => new AdmissionregistrationGroup() }],
})
export class AdmissionregistrationModule {}
