/** Tells the engine what is being waited for, so that `pulumi up` shows it beside the resource. */
import type * as EngineService from '@pulumi/pulumi/proto/engine_grpc_pb.js';
import { engine, EngineClient, grpc } from './protocol.ts';

export class Narrator {
  #client: EngineService.EngineClient | undefined;

  /** The engine of the next operation. */
  attach(address: string): void {
    this.close();
    if (address !== '') this.#client = new EngineClient(address, grpc.credentials.createInsecure());
  }

  /** Never fails: a status line that gets lost harms nobody. */
  report(urn: string, status: string): void {
    const request = new engine.LogRequest();
    request.setSeverity(engine.LogSeverity.INFO);
    request.setUrn(urn);
    request.setMessage(status);
    request.setEphemeral(true);
    this.#client?.log(request, () => undefined);
  }

  close(): void {
    this.#client?.close();
    this.#client = undefined;
  }
}
