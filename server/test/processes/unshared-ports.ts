import { Server } from 'node:net'

/** Loaded into a service by `--import`: a system that cannot share ports, as libuv answers there. */
const { listen } = Server.prototype
Server.prototype.listen = function (this: Server, ...given: unknown[]) {
  const [options] = given
  if (typeof options === 'object' && options && 'reusePort' in options && options.reusePort === true) {
    const error = Object.assign(new Error('listen ENOTSUP: operation not supported'), {
      code: 'ENOTSUP',
      syscall: 'listen',
    })
    process.nextTick(() => this.emit('error', error))
    return this
  }
  return Reflect.apply(listen, this, given)
}
