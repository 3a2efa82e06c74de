def test_x(barry):
    child = barry.launch("--", "deaf")
    child.sendline("quit 7")
    assert barry.ended(child) == 7
    print(barry.started())
    print(barry.listed())
    print(barry.run("session","launch","toy","--dry-run"))
    print(barry.run())
    print(barry.run("session"))
    print(barry.run("session", "launch"))
    print(barry.run("sesion", "launch"))
    assert 0
