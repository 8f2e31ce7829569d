"""delay.py PORT TARGET MILLISECONDS: passes connections on to another port of this machine, each piece late by so much one way.

Prints how many requests there were since the last time, when it gets SIGUSR1.
"""

import asyncio
import signal
import sys

port, target, late = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]) / 1000
requests = 0


async def passes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, counts: bool) -> None:
    global requests
    loop = asyncio.get_running_loop()
    held: asyncio.Queue = asyncio.Queue(256)

    async def give() -> None:
        while True:
            due, data = await held.get()
            await asyncio.sleep(max(0, due - loop.time()))
            if data is None:
                return writer.write_eof()
            writer.write(data)
            await writer.drain()

    giving = asyncio.create_task(give())
    while True:
        data = await reader.read(1 << 18)
        if counts:
            requests += data.count(b"HTTP/1.1\r\n")
        await held.put((loop.time() + late, data or None))
        if not data:
            return await giving


async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    there, back = await asyncio.open_connection("127.0.0.1", target, limit=1 << 20)
    await asyncio.gather(passes(reader, back, True), passes(there, writer, False), return_exceptions=True)
    writer.close()
    back.close()


def tell() -> None:
    global requests
    print(requests, flush=True)
    requests = 0


async def main() -> None:
    server = await asyncio.start_server(connect, "127.0.0.1", port, limit=1 << 20)
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, tell)
    print("ready", flush=True)
    await server.serve_forever()


asyncio.run(main())
