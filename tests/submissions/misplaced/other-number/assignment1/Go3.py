import os
import sys

sys.path.append(os.path.join(sys.path[0], "..", "util"))

from gtp_connection_go1 import GtpConnectionGo1

GtpConnectionGo1("Go1").serve()
